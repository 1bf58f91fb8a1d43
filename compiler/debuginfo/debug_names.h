// SPDX-License-Identifier: Apache-2.0
// What debug information says of a function's name: what its symbol leaves out or writes otherwise.
#pragma once
#include <elfutils/libdw.h>

#include <string>
#include <string_view>

#include "compiler/debuginfo/pattern.h"

namespace dj {

// The names of the DIEs around the function and its own, as gdb joins them:
// "r::shapes::Point<f32>::length<f32>". What a procedure of Fortran contains has its name and that
// one's, "move::inner", without the module's.
std::string debug_name(Dwarf_Die function);

// What gdb calls a function of Fortran or Ada whose symbol that is: "stats::twice",
// "MAIN__::inner", "shop.total". Empty: it is in another language, or the symbol is not this
// function's.
std::string foreign_name(Dwarf_Die function, std::string_view symbol);
// That, or else what people call the symbol.
std::string shown_name(Dwarf_Die function, std::string_view symbol);

bool is_foreign(Dwarf_Die unit);  // in Fortran or Ada

// What the meaning asks of the language and the namespaces around the function is so.
bool is_as_meant(const NameMatcher::Meaning& meaning, Dwarf_Die function);

}  // namespace dj
