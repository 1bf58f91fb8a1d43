// SPDX-License-Identifier: Apache-2.0
// Sections of a file without section headers (sstrip, --strip-sections, what a process has mapped):
// made of what its program headers and its dynamic section tell.
#pragma once
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

// The sections, the empty first one included: symbols and versions, relocations, call frame
// information, the build-id, stubs of the PLT, and each loaded segment by what may be done with it.
// None: the file has no segments.
std::vector<Section> sections_of_segments(const ObjectFile& elf);

}  // namespace dj
