// SPDX-License-Identifier: Apache-2.0
// Inlined copies of functions, and labels: places inside of functions that debug info names. Only
// for this room.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
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
  using AddressPair = std::pair<uint64_t, uint64_t>;              // [begin, end)
  using Statement = std::tuple<uint32_t, uint32_t, std::string>;  // line, column, file
  using Statements = std::set<std::pair<uint64_t, Statement>>;    // by where they begin
  void copy(Dwarf_Die* die);
  bool is_wanted(Dwarf_Die* die);
  std::vector<std::vector<AddressPair>> split_copies(Dwarf_Die* die, const InlineHit& hit);
  const Statements& statements_around(Dwarf_Die* die);
  static std::optional<Statement> statement_of(const Statements& statements, uint64_t address,
                                               const SourcePlace& declared);

  DwarfIndex& index_;
  const NameMatcher& matcher_;
  std::unordered_map<uint64_t, bool> matches_;  // by offset of the function that is copied
  std::unordered_map<uint64_t, Statements> statements_;  // by offset of the unit
  std::vector<InlineHit> hits_;
};

void find_labels(Dwarf_Die* parent, DwarfIndex& index, std::vector<LabelHit>& out);

}  // namespace dj
