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

// LocationWalk: goes through the entries of a location attribute, as dwarf_getlocations() does.
class LocationWalk {
 public:
  // location: outlives this object.
  explicit LocationWalk(Dwarf_Attribute* location) : location_(location) {}
  // Reads the next entry; false: there is none, or libdw cannot read it.
  bool next();
  // libdw could not read the entry that next() asked for last.
  bool failed() const { return offset_ < 0; }

  // The entry: its range of addresses in the file, and its operations.
  Dwarf_Addr begin = 0, end = 0;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;

 private:
  ptrdiff_t read();
  Dwarf_Attribute* location_;
  ptrdiff_t offset_ = 0;
  Dwarf_Addr base_ = 0;
};

}  // namespace dj
