// Walks functions, their blocks and what was inlined into them.
#include "compiler/debuginfo/inlines.h"

#include <algorithm>

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

// The linker's name if there is one: it has the namespaces.
std::string symbol_of(Dwarf_Die* die) {
  std::optional<Dwarf_Attribute> attr = attribute(die, DW_AT_linkage_name);
  const char* text = attr ? dwarf_formstring(&*attr) : nullptr;
  return text ? text : die_name(die);
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

void InlineSearch::copy(Dwarf_Die* die) {
  std::optional<Dwarf_Die> origin = referred(die, DW_AT_abstract_origin);
  if (!origin) {
    return;
  }
  auto [known, fresh] = matches_.try_emplace(identity(*origin), false);
  if (fresh) {
    known->second = matcher_.matches(symbol_of(die));
  }
  Dwarf_Addr entry = 0;
  if (!known->second || dwarf_entrypc(die, &entry) != 0 || entry == 0) {
    return;
  }
  InlineHit hit{entry + index_.bias(), index_.mark(*die), person_name(symbol_of(die)), {}, {}};
  if (auto place = declaration_of(die)) {
    hit.declared = {place->first, place->second};
  }
  Dwarf_Addr base = 0, begin = 0, end = 0;
  ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0) {
    hit.ranges.emplace_back(begin + index_.bias(), end + index_.bias());
  }
  hits_.push_back(std::move(hit));
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
