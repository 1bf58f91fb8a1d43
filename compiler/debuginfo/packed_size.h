// SPDX-License-Identifier: Apache-2.0
// unpacks_sanely(): keeps libdw from unpacking sections that claim to be, or are, far larger than
// what a compiler's output is packed from.
#pragma once
#include "compiler/debuginfo/object_file.h"

namespace dj {

// Do the compressed sections of the file (SHF_COMPRESSED, .zdebug_*, .gnu_debugdata) unpack to no
// more than 16 MB and 64 times their size, all together?
bool unpacks_sanely(const ObjectFile& elf);

}  // namespace dj
