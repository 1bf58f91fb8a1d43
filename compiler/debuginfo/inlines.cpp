// SPDX-License-Identifier: Apache-2.0
// Walks functions, their blocks and what was inlined into them.
#include "compiler/debuginfo/inlines.h"

#include <algorithm>

#include "arch/x86_64/entry_place.h"
#include "compiler/debuginfo/debug_names.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

// A DIE that may hold code: its children are worth a look.
bool holds_code(Dwarf_Die* die) {
  switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
      return dwarf_haschildren(die) > 0;
    default:
      return false;
  }
}

}  // namespace

void InlineSearch::add(Dwarf_Die* parent) {
  Dwarf_Die child;
  if (!first_child(parent, &child)) {
    return;
  }
  do {
    if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) {
      copy(&child);
    }
    if (holds_code(&child)) {
      add(&child);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

bool InlineSearch::is_wanted(Dwarf_Die* die) {
  std::optional<Dwarf_Die> origin = referred(die, DW_AT_abstract_origin);
  if (!origin) return false;
  auto [known, fresh] = matches_.try_emplace(identity(*origin), false);
  if (fresh) {
    const NameMatcher::Meaning meaning = matcher_.meaning(linkage_name(die));
    const bool fortran = meaning.if_in == NameMatcher::Language::Fortran;
    known->second = meaning.yes && (!meaning.if_called || fortran) &&
                    is_as_meant(meaning, *origin) &&
                    (!meaning.if_called || matcher_.is_called(debug_name(*origin), meaning.if_in));
  }
  return known->second;
}

// Without an attribute that says it the entry is the base address of the copy's scope, which is the
// first of its ranges (DWARF 5, 2.17 and 2.18).
void InlineSearch::copy(Dwarf_Die* die) {
  if (!is_wanted(die)) return;
  InlineHit hit{0, index_.mark(*die), shown_name(*die, linkage_name(die)), {}, {}};
  if (auto place = declaration_of(die)) hit.declared = {place->first, place->second};
  Dwarf_Addr entry = 0;
  const bool has_entry = dwarf_entrypc(die, &entry) == 0 && entry != 0;
  hit.ranges = index_.ranges(die);
  if (!has_entry && hit.ranges.empty()) return;
  if (has_entry) {
    hit.address = entry + index_.bias();
    hits_.push_back(std::move(hit));
    return;
  }
  for (std::vector<AddressPair>& ranges : split_copies(die, hit)) {
    InlineHit one = hit;
    one.address = ranges.front().first;
    one.ranges = std::move(ranges);
    hits_.push_back(std::move(one));
  }
}

// Of a loop that was unrolled clang has one entry with ranges of all its rounds: each that begins
// with the statement that the first one begins with is a copy of its own, what comes up to the next
// of these are its parts. Without columns all statements of a line look alike: code behind an empty
// range is then part of its copy.
std::vector<std::vector<InlineSearch::AddressPair>> InlineSearch::split_copies(
    Dwarf_Die* die, const InlineHit& hit) {
  std::vector<std::vector<AddressPair>> copies = {{hit.ranges.front()}};
  const Statements& statements = statements_around(die);
  const auto entry_of = [&](const AddressPair& range) {
    const Bytes code = index_.elf().code_at(range.first);
    const size_t size = std::min<size_t>(code.size(), range.second - range.first);
    return arch::behind_nops(code.first(size), range.first);
  };
  const std::optional<Statement> first =
      statement_of(statements, entry_of(hit.ranges.front()), hit.declared);
  for (size_t i = 1; i < hit.ranges.size(); i++) {
    const bool is_empty = hit.ranges[i].first == hit.ranges[i].second;
    const bool after_empty = hit.ranges[i - 1].first == hit.ranges[i - 1].second && !is_empty;
    const bool begins = first && statements.contains({entry_of(hit.ranges[i]), *first}) &&
                        (std::get<1>(*first) != 0 || !after_empty);
    if (begins) copies.emplace_back();
    copies.back().push_back(hit.ranges[i]);
  }
  return copies;
}

// Where statements begin in the unit of `die`, by its line table.
const InlineSearch::Statements& InlineSearch::statements_around(Dwarf_Die* die) {
  Dwarf_Die unit;
  const bool known = dwarf_diecu(die, &unit, nullptr, nullptr) != nullptr;
  auto [found, fresh] = statements_.try_emplace(known ? identity(unit) : 0);
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (!fresh || !known || !index_.lines(unit, &lines, &count)) return found->second;
  for (size_t i = 0; i < count; i++) {
    Dwarf_Line* row = dwarf_onesrcline(lines, i);
    bool begins = false;
    Dwarf_Addr address = 0;
    int line = 0, column = 0;
    const char* path = dwarf_linesrc(row, nullptr, nullptr);
    if (dwarf_linebeginstatement(row, &begins) != 0 || !begins || path == nullptr ||
        dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &line) != 0 ||
        dwarf_linecol(row, &column) != 0)
      continue;
    found->second.insert({address + index_.bias(), {uint32_t(line), uint32_t(column), path}});
  }
  return found->second;
}

// The one at `address` that is the function's own: of the caller's there may be others.
std::optional<InlineSearch::Statement> InlineSearch::statement_of(const Statements& statements,
                                                                  uint64_t address,
                                                                  const SourcePlace& declared) {
  for (auto at = statements.lower_bound({address, {declared.line, 0, ""}});
       at != statements.end() && at->first == address; ++at) {
    if (std::get<std::string>(at->second) == declared.file) return at->second;
  }
  return std::nullopt;
}

std::vector<InlineHit> InlineSearch::hits() {
  std::stable_sort(hits_.begin(), hits_.end(),
                   [](const InlineHit& a, const InlineHit& b) { return a.address < b.address; });
  return std::move(hits_);
}

void find_labels(Dwarf_Die* parent, DwarfIndex& index, std::vector<LabelHit>& out) {
  for (Dwarf_Die& child : children(parent)) {
    Dwarf_Addr address = 0;
    if (dwarf_tag(&child) == DW_TAG_label && dwarf_lowpc(&child, &address) == 0) {
      const auto place = declaration_of(&child);
      out.push_back({address + index.bias(), die_name(&child), place ? place->second : 0});
    } else if (holds_code(&child)) {
      find_labels(&child, index, out);
    }
  }
}

}  // namespace dj
