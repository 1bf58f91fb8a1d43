// SPDX-License-Identifier: Apache-2.0
// PackedUnits: the split units of a program that a packer (dwp, llvm-dwp) has put into one .dwp
// file. libdw before 0.191 reads none; here each becomes the .dwo file again that it was. Only for
// this room.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "compiler/debuginfo/object_file.h"

namespace dj {

class PackedUnits {
 public:
  // Null: there is no such file, or none that can be read.
  static std::unique_ptr<PackedUnits> open(const std::string& path);
  ~PackedUnits();

  // A sealed file in memory: the .dwo file of the unit with that id, without the types that another
  // one has, too. The caller closes it; -1: there is no such unit.
  int image(uint64_t id) const;
  // From now on types that `dwarf`, made of an image, lacks are looked for in all units.
  void adopt(Dwarf* dwarf);

 private:
  // What one unit has of each section, by the numbers of the index (DW_SECT_*).
  struct Slice {
    uint32_t offset = 0, size = 0;
  };
  using Unit = std::map<uint32_t, Slice>;
  using Units = std::map<uint64_t, Unit>;  // by id, or by the signature of the type

  explicit PackedUnits(ObjectFile elf) : elf_(std::move(elf)) {}
  Units read_index(const char* section);
  Bytes bytes_of(const Unit& unit, uint32_t number) const;
  std::optional<Dwarf_Die> type(uint64_t signature);
  Dwarf* dwarf_of(uint64_t id);
  friend std::optional<Dwarf_Die> packed_type(Dwarf* dwarf, uint64_t signature);

  ObjectFile elf_;
  uint32_t version_ = 0;  // of the index: 2 or 5
  Units units_, types_;
  std::multimap<const uint8_t*, uint64_t> by_strings_;  // types, by the strings of their .dwo file
  std::map<uint64_t, Dwarf*> opened_;  // by id of the unit; for types
};

// The type with that signature, which `dwarf` refers to and lacks; none: no adopter has it.
std::optional<Dwarf_Die> packed_type(Dwarf* dwarf, uint64_t signature);

// PackedSearch: while one lives, a .dwo file that libdw does not find in this thread is the image
// of this unit.
class PackedSearch {
 public:
  // packed: null, or what outlives this object.
  PackedSearch(const PackedUnits* packed, uint64_t id);
  ~PackedSearch();
  PackedSearch(const PackedSearch&) = delete;
  PackedSearch& operator=(const PackedSearch&) = delete;
  // The image; the caller closes it. -1: nothing is searched for, or it is not there.
  static int image();
};

}  // namespace dj
