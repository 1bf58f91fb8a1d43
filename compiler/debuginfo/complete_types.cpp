// SPDX-License-Identifier: Apache-2.0
// One pass over the units, which reads no more than names.
#include "compiler/debuginfo/complete_types.h"

#include <dwarf.h>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/struct_name.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

bool is_record(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

}  // namespace

std::optional<Dwarf_Die> CompleteTypes::find(Dwarf_Die* declared) {
  auto [known, fresh] = answers_.try_emplace(identity(*declared));
  if (fresh) known->second = search(declared);
  return known->second;
}

std::optional<Dwarf_Die> CompleteTypes::search(Dwarf_Die* declared) {
  for (Dwarf_Die& unit : units_) {
    collect(&unit, "");
    declared_in_.clear();
  }
  units_.clear();
  const std::string name = die_name(declared);
  const auto found = types_.find(scopes_of(declared) + name);
  if (found == types_.end() || name.empty()) return std::nullopt;
  const bool is_union = dwarf_tag(declared) == DW_TAG_union_type;
  for (Dwarf_Die& type : found->second.dies) {
    if ((dwarf_tag(&type) == DW_TAG_union_type) != is_union) continue;
    if (!found->second.lacks_arguments) return type;
    // Names with qualified arguments take long.
    if (struct_name(&type, false) == struct_name(declared, false) &&
        struct_name(&type) == struct_name(declared)) {
      return type;
    }
  }
  return std::nullopt;
}

void CompleteTypes::collect(Dwarf_Die* parent, const std::string& scope) {
  Dwarf_Die child;
  for (bool more = first_child(parent, &child); more; more = dwarf_siblingof(&child, &child) == 0) {
    const int tag = dwarf_tag(&child);
    if (!is_record(tag) && tag != DW_TAG_enumeration_type && tag != DW_TAG_namespace) continue;
    const std::string name = die_name(&child);
    const bool is_type = tag != DW_TAG_namespace, is_declared = is_type && is_declaration(&child);
    if (is_declared) declared_in_[identity(child)] = scope;
    std::optional<Dwarf_Die> completed = referred(&child, DW_AT_specification);
    const auto outside = declared_in_.find(completed ? identity(*completed) : 0);
    const std::string& around = outside != declared_in_.end() ? outside->second : scope;
    if (is_type && !is_declared) add(around + name, child);
    if (name.empty() || tag == DW_TAG_enumeration_type) continue;
    const bool is_inline = !is_type && flag(&child, DW_AT_export_symbols);
    collect(&child, is_inline ? around : around + struct_name(&child, false) + "::");
  }
}

void CompleteTypes::add(const std::string& name, const Dwarf_Die& type) {
  auto [known, fresh] = types_.try_emplace(name);
  Named& named = known->second;
  Dwarf_Die die = type;
  if (fresh) named.lacks_arguments = struct_name(&die, false) != die_name(&die);
  if (fresh || named.lacks_arguments) named.dies.push_back(type);
}

}  // namespace dj
