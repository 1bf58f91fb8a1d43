// SPDX-License-Identifier: Apache-2.0
// CodeRanges: the address ranges of entries of one file's debug information, also of those whose
// list libdw takes for an empty one. Only for this room.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace dj {

class CodeRanges {
 public:
  using AddressPair = std::pair<uint64_t, uint64_t>;  // [begin, end)

  // dwarf: null, or what must outlive this object.
  explicit CodeRanges(Dwarf* dwarf = nullptr) : dwarf_(dwarf) {}
  // The ranges of `die` in the order of its list, empty ones too, as debug information has them
  // (without a bias); none: it has no code.
  std::vector<AddressPair> of(Dwarf_Die* die);

 private:
  uint64_t list_end(uint64_t list);
  void collect_lists();
  void collect_below(Dwarf_Die* parent);
  void collect_list(Dwarf_Die* die);

  Dwarf* dwarf_;
  std::set<uint64_t> lists_;  // where in .debug_ranges each begins
  bool collected_ = false;    // when first asked: it takes a walk through the whole file
};

}  // namespace dj
