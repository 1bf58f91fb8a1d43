// SPDX-License-Identifier: Apache-2.0
// split_image(): the split debug information of a file as libdw can read it: one section of each
// name, and nothing that is not split. Only for this room.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

using SplitSections = std::map<std::string, std::vector<uint8_t>>;  // by name

// libdw reads the first section of each name that belongs to no group, and of a file that has
// sections of both kinds those that do not end in .dwo. Does that leave out split debug information
// of `elf`? So it does of types in units of their own (-fdebug-types-section), of which a .dwo file
// has one section each, and of object files that hold both kinds (-gsplit-dwarf=single).
bool needs_split_image(const ObjectFile& elf);
// A sealed file in memory with the .dwo sections of `elf`, unpacked, those of one name behind each
// other. The caller closes it; -1: it cannot be made.
int split_image(const ObjectFile& elf);
// The same with all sections of debug information.
int unpacked_image(const ObjectFile& elf);
// A sealed object file in memory with these sections. The caller closes it; -1: errno says why.
int sealed_object(const SplitSections& sections);

}  // namespace dj
