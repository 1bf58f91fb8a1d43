// SPDX-License-Identifier: Apache-2.0
// Subtracts the unwind table's rule for the canonical frame address from an operation's address.
#include "compiler/debuginfo/frame_places.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

// A register and an offset, or what an operation counts from.
struct Based {
  int reg = 0;
  int64_t offset = 0;
};

std::optional<Based> based_on(const Dwarf_Op& op) {
  if (op.atom == DW_OP_bregx) {
    return Based{int(op.number), int64_t(op.number2)};
  }
  if (op.atom < DW_OP_breg0 || op.atom > DW_OP_breg31) {
    return std::nullopt;
  }
  return Based{op.atom - DW_OP_breg0, int64_t(op.number)};
}

}  // namespace

std::optional<int64_t> above_frame(const Dwarf_Op& op, uint64_t pc, Dwarf_Die* function,
                                   const DwarfIndex& index) {
  std::optional<Based> place = based_on(op);
  if (op.atom == DW_OP_fbreg) {
    std::optional<Dwarf_Attribute> base = attribute(function, DW_AT_frame_base);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (!base || dwarf_getlocation(&*base, &ops, &count) != 0 || count != 1) {
      return std::nullopt;
    }
    if (ops[0].atom == DW_OP_call_frame_cfa) {
      return int64_t(op.number);
    }
    if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
      place = Based{ops[0].atom - DW_OP_reg0, int64_t(op.number)};
    }
  }
  const std::vector<Dwarf_Op> rule = place ? index.cfa_ops(pc) : std::vector<Dwarf_Op>();
  const std::optional<Based> frame = rule.size() == 1 ? based_on(rule[0]) : std::nullopt;
  if (!frame || frame->reg != place->reg) {
    return std::nullopt;
  }
  return place->offset - frame->offset;
}

std::optional<int64_t> above_frame_mostly(const Dwarf_Op& op, Dwarf_Die* function,
                                          const DwarfIndex& index) {
  constexpr uint64_t kPlaces = 9;
  Dwarf_Addr begin = 0, end = 0;
  if (dwarf_lowpc(function, &begin) != 0 || dwarf_highpc(function, &end) != 0) {
    return std::nullopt;
  }
  std::map<int64_t, int> counts;
  for (uint64_t i = 1; i <= kPlaces; i++) {
    const uint64_t pc = begin + (end - begin) * i / (kPlaces + 1) + index.bias();
    if (const std::optional<int64_t> offset = above_frame(op, pc, function, index)) {
      counts[*offset]++;
    }
  }
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(counts.begin(), counts.end(), by_count);
  return most != counts.end() && most->second > int(kPlaces) / 2 ? std::optional(most->first)
                                                                 : std::nullopt;
}

}  // namespace dj
