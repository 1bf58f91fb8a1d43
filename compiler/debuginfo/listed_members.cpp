// SPDX-License-Identifier: Apache-2.0
// Lists of a struct's members, for what people are told.
#include <fmt/format.h>

#include "compiler/debuginfo/part_offset.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

// Where a part begins in its struct; none: only the running program knows (virtual bases).
std::optional<uint64_t> offset_of(Dwarf_Die* part) {
  if (const auto bits = number(part, DW_AT_data_bit_offset)) {
    return *bits / 8;
  }
  return part_offset(part);
}

void list_parts(Dwarf_Die* structure, std::optional<uint64_t> begin,
                std::vector<std::string>& lines, std::vector<std::string>& names) {
  for (Dwarf_Die& child : children(structure)) {
    if (dwarf_tag(&child) == DW_TAG_variant_part || dwarf_tag(&child) == DW_TAG_variant) {
      list_parts(&child, begin, lines, names);
    }
    if (dwarf_tag(&child) != DW_TAG_member && dwarf_tag(&child) != DW_TAG_inheritance) {
      continue;
    }
    std::optional<uint64_t> offset = offset_of(&child);
    offset = begin && offset ? std::optional(*begin + *offset) : std::nullopt;
    const std::string name = die_name(&child);
    TypeDie type = type_of(&child);
    if (!name.empty()) {
      names.push_back(name);
      const std::string place = offset ? fmt::format("{}: ", *offset) : "";
      lines.push_back(place + type_name(type) + " " + name);
    } else if (type && is_struct(&*type)) {
      list_parts(&*type, offset, lines, names);
    }
  }
}

}  // namespace

std::vector<std::string> list_members(Dwarf_Die* structure, std::vector<std::string>& names) {
  std::vector<std::string> lines;
  list_parts(structure, 0, lines, names);
  return lines;
}

}  // namespace dj
