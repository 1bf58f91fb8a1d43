// SPDX-License-Identifier: Apache-2.0
// struct_name(): the name of a struct, class or union with the arguments of its template. Only for
// this room.
#pragma once
#include <elfutils/libdw.h>

#include <string>

namespace dj {

// "vector<int, std::allocator<int> >", also where the entry's name has no arguments and they stand
// in its children alone, as clang's -gsimple-template-names writes it. `qualified`: the arguments
// have their namespaces, which takes a walk through the unit for each. "": the type has no name.
std::string struct_name(Dwarf_Die* type, bool qualified = true);

// "std::" of what lies in std, or completes what is declared there: the namespaces and classes, but
// for inline namespaces.
std::string scopes_of(Dwarf_Die* die);
// Is the entry itself a declaration? Not so what completes one.
bool is_declaration(Dwarf_Die* die);

}  // namespace dj
