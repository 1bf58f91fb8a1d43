// SPDX-License-Identifier: Apache-2.0
// Writes arguments as clang does in a whole name, but for the suffixes of numbers.
#include "compiler/debuginfo/struct_name.h"

#include <cstdlib>
#include <string_view>

#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {

namespace {

std::string argument_type(TypeDie type, bool qualified) {
  const int tag = type ? dwarf_tag(&*type) : 0;
  auto inner = [&] { return argument_type(type_of(&*type), qualified); };
  auto pointer = [&](const char* mark) {
    const std::string to = inner();
    return to + (to.ends_with('*') || to.ends_with('&') ? "" : " ") + mark;
  };
  switch (tag) {
    case DW_TAG_pointer_type:
      return pointer("*");
    case DW_TAG_reference_type:
      return pointer("&");
    case DW_TAG_rvalue_reference_type:
      return pointer("&&");
    case DW_TAG_const_type:
      return "const " + inner();
    case DW_TAG_volatile_type:
      return "volatile " + inner();
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_typedef:
      return (qualified ? scopes_of(&*type) : "") + struct_name(&*type, qualified);
    default:
      return type_name(type);
  }
}

std::string argument_value(Dwarf_Die* parameter) {
  const TypeDie type = type_of(parameter);
  std::optional<Dwarf_Attribute> value = attribute(parameter, DW_AT_const_value);
  const std::optional<int64_t> number = value ? signed_number(&*value) : std::nullopt;
  if (!number) return "?";
  if (type && type_name(type) == "bool") return *number != 0 ? "true" : "false";
  return std::to_string(*number);
}

// Of an entry that is a parameter of its parent's template: ", " and its argument.
void add_argument(Dwarf_Die* child, bool qualified, std::string& text) {
  std::optional<Dwarf_Attribute> attr;
  switch (dwarf_tag(child)) {
    case DW_TAG_template_type_parameter:
      text += ", " + argument_type(type_of(child), qualified);
      break;
    case DW_TAG_template_value_parameter:
      text += ", " + argument_value(child);
      break;
    case DW_TAG_GNU_template_template_param:
      attr = attribute(child, DW_AT_GNU_template_name);
      if (const char* name = attr ? dwarf_formstring(&*attr) : nullptr)
        text += ", " + std::string(name);
      break;
    case DW_TAG_GNU_template_parameter_pack:
      for (Dwarf_Die& each : children(child)) add_argument(&each, qualified, text);
      break;
    default:
      break;
  }
}

bool is_template_part(int tag) {
  return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
         tag == DW_TAG_GNU_template_template_param || tag == DW_TAG_GNU_template_parameter_pack;
}

}  // namespace

std::string struct_name(Dwarf_Die* type, bool qualified) {
  std::string name = die_name(type);
  if (name.empty() || name.ends_with('>')) return name;
  bool is_template = false;
  std::string arguments;
  Dwarf_Die child;
  for (bool more = first_child(type, &child); more; more = dwarf_siblingof(&child, &child) == 0) {
    if (!is_template_part(dwarf_tag(&child))) continue;
    is_template = true;
    add_argument(&child, qualified, arguments);
  }
  if (!is_template) return name;
  const std::string list = arguments.empty() ? arguments : arguments.substr(2);
  return name + "<" + list + (list.ends_with('>') ? " >" : ">");
}

std::string scopes_of(Dwarf_Die* die) {
  Dwarf_Die* scopes = nullptr;
  std::string text;
  std::optional<Dwarf_Die> declared = referred(die, DW_AT_specification);
  const int count = dwarf_getscopes_die(declared ? &*declared : die, &scopes);
  for (int i = 1; i < count; i++) {
    const int tag = dwarf_tag(&scopes[i]);
    const bool is_inline = tag == DW_TAG_namespace && flag(&scopes[i], DW_AT_export_symbols);
    if ((tag != DW_TAG_namespace && !is_struct(&scopes[i])) || is_inline) continue;
    const std::string name = struct_name(&scopes[i], false);
    text.insert(0, (name.empty() ? "(anonymous namespace)" : name) + "::");
  }
  std::free(scopes);
  return text;
}

bool is_declaration(Dwarf_Die* die) {
  bool declared = false;
  Dwarf_Attribute attr;
  return dwarf_attr(die, DW_AT_declaration, &attr) && dwarf_formflag(&attr, &declared) == 0 &&
         declared;
}

}  // namespace dj
