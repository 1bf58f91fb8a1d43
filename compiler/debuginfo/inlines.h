// Inlined copies of functions, and labels: places inside of functions that debug info names. Only
// for this room.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

// InlineSearch: collects the inlined copies below some DIEs whose function's name matches.
class InlineSearch {
 public:
  InlineSearch(DwarfIndex& index, const NameMatcher& matcher) : index_(index), matcher_(matcher) {}

  void add(Dwarf_Die* parent);
  std::vector<InlineHit> hits();  // by address

 private:
  void copy(Dwarf_Die* die);

  DwarfIndex& index_;
  const NameMatcher& matcher_;
  std::unordered_map<uint64_t, bool> matches_;  // by offset of the function that is copied
  std::vector<InlineHit> hits_;
};

void find_labels(Dwarf_Die* parent, DwarfIndex& index, std::vector<LabelHit>& out);

}  // namespace dj
