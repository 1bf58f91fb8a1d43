// SPDX-License-Identifier: Apache-2.0
// Variables in scope at an instruction, and where each one is there. Only for this room.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/dwarf_ops.h"

namespace dj {

struct ScopedVariable {
  Dwarf_Die die;
  std::string name;
  bool parameter = false;  // of the function itself, not of one inlined into it
};

// Parameters and locals in scope at the place, outer scopes first, each in declaration order.
std::vector<ScopedVariable> variables_in_scope(Dwarf_Die* function, const ProbePlace& place,
                                               DwarfIndex& index);
// The innermost variable of that name, else a global or static one of the function's unit.
std::optional<ScopedVariable> find_variable(const std::string& name, Dwarf_Die* function,
                                            const ProbePlace& place, DwarfIndex& index);
// A variable of the units whose source file is `file` ("" any): a definition, else a declaration.
// The name may have its namespaces and class before it: "ns::Counter::count".
std::optional<ScopedVariable> find_unit_variable(const std::string& name, const std::string& file,
                                                 DwarfIndex& index);
// Names of the unit's own global variables, to suggest from.
std::vector<std::string> unit_variables(Dwarf_Die* function);

// Where the variable is at the place; the error is the reason why it is nowhere.
Result<ValueLocation> locate(ScopedVariable& variable, Dwarf_Die* function, const ProbePlace& place,
                             DwarfIndex& index);
// "+0x4..+0x20": parts of the function in which the variable has a location; empty: none.
std::string live_ranges(ScopedVariable& variable, const ProbePlace& place, DwarfIndex& index);

}  // namespace dj
