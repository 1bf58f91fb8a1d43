// SPDX-License-Identifier: Apache-2.0
// Until DWARF 4 a list of ranges is pairs of offsets from the unit's base, and two zeros end it.
// Compilers write an empty range at the base as the same two zeros: gdb and libdw end there. What
// comes before the next list belongs to this one.
#include "compiler/debuginfo/code_ranges.h"

#include <dwarf.h>

#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

constexpr uint64_t kPairBytes = 2 * sizeof(Dwarf_Addr);

// Where in .debug_ranges the list of `die` begins; none: it has none there.
std::optional<uint64_t> old_list(Dwarf_Die* die) {
  Dwarf_Attribute attr;
  Dwarf_Die unit;
  Dwarf_Half version = 0;
  Dwarf_Word offset = 0;
  if (!dwarf_attr(die, DW_AT_ranges, &attr) ||
      !dwarf_cu_die(attr.cu, &unit, &version, nullptr, nullptr, nullptr, nullptr, nullptr) ||
      version >= 5 || dwarf_formudata(&attr, &offset) != 0) {
    return std::nullopt;
  }
  return offset;
}

}  // namespace

std::vector<CodeRanges::AddressPair> CodeRanges::of(Dwarf_Die* die) {
  std::vector<AddressPair> ranges;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
    ranges.emplace_back(begin, end);
  }
  const std::optional<uint64_t> list = ranges.empty() ? old_list(die) : std::nullopt;
  const uint64_t last = list ? list_end(*list) : 0;
  for (uint64_t at = list.value_or(0); at + kPairBytes < last;) {  // libdw begins at any offset
    const ptrdiff_t next = at == list ? 0 : dwarf_ranges(die, ptrdiff_t(at), &base, &begin, &end);
    ranges.emplace_back(next > 0 ? begin : base, next > 0 ? end : base);
    at = next > 0 ? uint64_t(next) : at + kPairBytes;
  }
  return ranges;
}

// Where the next list begins; 0: none does. The last list of a file is a unit's, which has code.
uint64_t CodeRanges::list_end(uint64_t list) {
  if (!collected_) collect_lists();
  collected_ = true;
  const auto next = lists_.upper_bound(list);
  return next != lists_.end() ? *next : 0;
}

void CodeRanges::collect_lists() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Half version = 0;
  Dwarf_Die die, split;
  while (dwarf_ != nullptr &&
         dwarf_get_units(dwarf_, unit, &unit, &version, nullptr, &die, &split) == 0) {
    if (version >= 5) continue;
    collect_list(&die);
    collect_below(dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die);
  }
}

void CodeRanges::collect_below(Dwarf_Die* parent) {
  Dwarf_Die child;
  for (bool more = first_child(parent, &child); more; more = dwarf_siblingof(&child, &child) == 0) {
    collect_list(&child);
    collect_below(&child);
  }
}

void CodeRanges::collect_list(Dwarf_Die* die) {
  if (const std::optional<uint64_t> list = old_list(die)) lists_.insert(*list);
}

}  // namespace dj
