// SPDX-License-Identifier: Apache-2.0
// DW_AT_data_member_location, in each of its forms.
#include "compiler/debuginfo/part_offset.h"

namespace dj {

std::optional<uint64_t> part_offset(Dwarf_Die* part) {
  std::optional<Dwarf_Attribute> attr = attribute(part, DW_AT_data_member_location);
  if (!attr) return 0;
  if (const auto bytes = number(part, DW_AT_data_member_location)) return bytes;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  const bool adds = dwarf_getlocation(&*attr, &ops, &count) == 0 && count == 1 &&
                    ops[0].atom == DW_OP_plus_uconst;
  return adds ? std::optional<uint64_t>(ops[0].number) : std::nullopt;
}

}  // namespace dj
