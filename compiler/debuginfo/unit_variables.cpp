// SPDX-License-Identifier: Apache-2.0
// Finds variables by name: those in scope, then those of units, as each language names them.
#include <algorithm>
#include <cstdlib>

#include "compiler/debuginfo/ada_names.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/source_path.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/unit_folder.h"
#include "compiler/debuginfo/variables.h"

namespace dj {

namespace {

// Calls visit(die) for each variable directly in the unit or in its namespaces; true stops.
template <typename Visit>
bool each_unit_variable(Dwarf_Die* parent, Visit visit) {
  for (Dwarf_Die& child : children(parent)) {
    const int tag = dwarf_tag(&child);
    if (((tag == DW_TAG_variable || tag == DW_TAG_constant) && visit(child)) ||
        ((tag == DW_TAG_namespace || tag == DW_TAG_module) && each_unit_variable(&child, visit))) {
      return true;
    }
  }
  return false;
}

// "ns::Counter::count" of a variable in a namespace or of a class; what has no name is left out.
std::string qualified_name(Dwarf_Die* die) {
  std::optional<Dwarf_Die> declared = referred(die, DW_AT_specification);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(declared ? &*declared : die, &scopes);
  std::string name = die_name(die);
  for (int i = 1; i < count; i++) {
    const int tag = dwarf_tag(&scopes[i]);
    if ((tag == DW_TAG_namespace || tag == DW_TAG_module || is_struct(&scopes[i])) &&
        !die_name(&scopes[i]).empty()) {
      name.insert(0, die_name(&scopes[i]) + "::");
    }
  }
  std::free(scopes);
  return name;
}

// Of Ada's packages: shop__counter is "shop.counter", and "counter" in its package.
bool is_named_in_ada(Dwarf_Die* die, const std::string& name) {
  const std::string own = die_name(die);
  return own.find("__") != std::string::npos && is_ada(die) &&
         ("." + ada_name(own)).ends_with("." + in_lower_case(name));
}

// As written: "count", "Counter::count", "ns::Counter::count".
bool is_named(Dwarf_Die* die, const std::string& name) {
  if (is_named_in_ada(die, name)) return true;
  const size_t last = last_component(name);
  if (die_name(die) != std::string_view(name).substr(last)) {
    return false;
  }
  return last == 0 || ("::" + qualified_name(die)).ends_with("::" + name);
}

bool has_place(Dwarf_Die* die) {
  Dwarf_Attribute attr;
  return dwarf_attr(die, DW_AT_location, &attr) || dwarf_attr(die, DW_AT_const_value, &attr);
}

}  // namespace

std::optional<ScopedVariable> find_variable(const std::string& name, Dwarf_Die* function,
                                            const ProbePlace& place, DwarfIndex& index) {
  std::vector<ScopedVariable> scope = variables_in_scope(function, place, index);
  for (auto v = scope.rbegin(); v != scope.rend(); ++v) {
    if (v->name == name || is_named_in_ada(&v->die, name)) {
      return *v;
    }
  }
  if (const std::string lower = in_lower_case(name); lower != name && ignores_case(function)) {
    return find_variable(lower, function, place, index);
  }
  std::optional<ScopedVariable> found;
  std::optional<Dwarf_Die> unit = index.unit_at(place.pc);
  if (unit) {
    each_unit_variable(&*unit, [&](Dwarf_Die& die) {
      if (die_name(&die) == name || is_named_in_ada(&die, name)) {
        found = ScopedVariable{die, name, false};
        return has_place(&die);  // go on from a declaration to the definition
      }
      return false;
    });
  }
  return found;
}

std::optional<ScopedVariable> find_unit_variable(const std::string& name, const std::string& file,
                                                 DwarfIndex& index) {
  std::optional<ScopedVariable> found;
  for (Dwarf_Die unit : index.units()) {
    if (!file.empty() && !source_path_matches(file, die_name(&unit), unit_folder(unit))) {
      continue;
    }
    const bool defined = each_unit_variable(&unit, [&](Dwarf_Die& die) {
      if (is_named(&die, ignores_case(&die) ? in_lower_case(name) : name)) {
        found = ScopedVariable{die, name, false};
        return has_place(&die);
      }
      return false;
    });
    if (defined) {
      break;
    }
  }
  return found;
}

std::vector<std::string> unit_variables(Dwarf_Die* function) {
  std::vector<std::string> names;
  Dwarf_Die unit;
  if (dwarf_diecu(function, &unit, nullptr, nullptr)) {
    each_unit_variable(&unit, [&](Dwarf_Die& die) {
      names.push_back(die_name(&die));
      return false;
    });
  }
  return names;
}

}  // namespace dj
