// SPDX-License-Identifier: Apache-2.0
// Location attributes as libdw reads them, and those with an operation that it does not know. Only
// for this room.
#pragma once
#include <elfutils/libdw.h>

namespace dj {

// As dwarf_getlocation_addr() with room for one expression.
int location_at(Dwarf_Attribute* location, Dwarf_Addr pc, Dwarf_Op** ops, size_t* count);

// The attribute refers to a list: it is no expression of its own.
bool is_list(Dwarf_Attribute* location);

// As dwarf_getlocations().
ptrdiff_t next_location(Dwarf_Attribute* location, ptrdiff_t offset, Dwarf_Addr* base,
                        Dwarf_Addr* begin, Dwarf_Addr* end, Dwarf_Op** ops, size_t* count);

}  // namespace dj
