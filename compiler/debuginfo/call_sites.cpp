// SPDX-License-Identifier: Apache-2.0
// Collects DW_TAG_call_site and its older form, DW_TAG_GNU_call_site.
#include "compiler/debuginfo/call_sites.h"

#include <set>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

// The same for a function's definition, its declarations in all units, and its copies.
std::string key_of(Dwarf_Die die) {
  if (flag(&die, DW_AT_external)) {
    return linkage_name(&die);
  }
  for (const unsigned name : {DW_AT_abstract_origin, DW_AT_specification}) {
    if (std::optional<Dwarf_Die> origin = referred(&die, name)) {
      return key_of(*origin);
    }
  }
  return "#" + std::to_string(identity(die));
}

}  // namespace

CallSites::CallSites(const std::vector<Dwarf_Die>& units) {
  for (Dwarf_Die unit : units) {
    walk(&unit, nullptr);
  }
}

void CallSites::walk(Dwarf_Die* parent, Dwarf_Die* caller) {
  Dwarf_Die child;
  if (!first_child(parent, &child)) {
    return;
  }
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (dwarf_hasattr(&child, DW_AT_low_pc) || dwarf_hasattr(&child, DW_AT_ranges)) {
          walk(&child, &child);
        }
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
        walk(&child, caller);
        break;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
        walk(&child, nullptr);
        break;
      case DW_TAG_lexical_block:
      case DW_TAG_inlined_subroutine:
        walk(&child, caller);
        break;
      case DW_TAG_call_site:
      case DW_TAG_GNU_call_site:
        if (caller) {
          add(&child, caller);
        }
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

void CallSites::add(Dwarf_Die* site, Dwarf_Die* caller) {
  std::optional<Dwarf_Die> callee = referred(site, DW_AT_call_origin);
  if (!callee) {
    callee = referred(site, DW_AT_abstract_origin);
  }
  if (!callee) {
    return;
  }
  Dwarf_Attribute attr;
  Dwarf_Addr pc = 0;
  bool tail = false;
  for (const unsigned name : {DW_AT_call_tail_call, DW_AT_GNU_tail_call}) {
    tail = tail || (dwarf_attr(site, name, &attr) && dwarf_formflag(&attr, &tail) == 0 && tail);
  }
  if (tail) {
    tail_calls_[key_of(*caller)].push_back(key_of(*callee));
    return;
  }
  const unsigned place = dwarf_tag(site) == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc;
  if (dwarf_attr(site, place, &attr) && dwarf_formaddr(&attr, &pc) == 0) {
    calls_[key_of(*callee)].push_back({*site, *caller, pc});
  }
}

const std::vector<CallSite>& CallSites::of(Dwarf_Die* function) const {
  static const std::vector<CallSite> none;
  const auto found = calls_.find(key_of(*function));
  return found != calls_.end() ? found->second : none;
}

bool CallSites::calls_itself_last(Dwarf_Die* function) const {
  const std::string self = key_of(*function);
  std::set<std::string> seen;
  std::vector<std::string> open = {self};
  while (!open.empty()) {
    const auto found = tail_calls_.find(open.back());
    open.pop_back();
    for (const std::string& callee :
         found != tail_calls_.end() ? found->second : std::vector<std::string>()) {
      if (callee == self) {
        return true;
      }
      if (seen.insert(callee).second) {
        open.push_back(callee);
      }
    }
  }
  return false;
}

}  // namespace dj
