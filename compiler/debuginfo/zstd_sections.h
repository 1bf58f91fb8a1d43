// SPDX-License-Identifier: Apache-2.0
// Debug sections packed with zstd, which elfutils reads from 0.189 on, if it was built with it.
#pragma once
#include <string>

#include "compiler/debuginfo/object_file.h"

namespace dj {

// The names of such sections: ".debug_info, .debug_line"; empty: there are none.
std::string zstd_sections(const ObjectFile& elf);

// Who cannot read them: "elfutils 0.188".
std::string elfutils_version();

}  // namespace dj
