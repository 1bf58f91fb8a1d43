// SPDX-License-Identifier: Apache-2.0
// Languages: what the language of a DIE's unit changes in the meaning of its names and types. Only
// for this room.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dj {

bool is_fortran(Dwarf_Die* die);
bool is_ada(Dwarf_Die* die);

bool ignores_case(
    Dwarf_Die* die);  // its names are written in any case; they are in lower case there
std::string in_lower_case(std::string text);

// The first subscript of a dimension whose lower bound is not written: DWARF has one for each
// language.
int64_t first_subscript(Dwarf_Die* array);

// A component that stands for the type that this one extends: its components are this one's, too.
// Fortran calls it as its type, GNAT _parent.
bool is_parent(Dwarf_Die* member, Dwarf_Die* type);
// GNAT's _tag, which says of which type an object is.
bool is_tag(Dwarf_Die* member);

using ValueNames = std::vector<std::pair<int64_t, std::string>>;
// What a truth value is called: .TRUE., true. Empty: it is a number, as in C.
ValueNames truth_names(Dwarf_Die* type);
// The words of an enumeration: "green", also where GNAT writes types__green.
ValueNames enumerators(Dwarf_Die* enumeration);

// GNAT's unconstrained array: a struct of two pointers, P_ARRAY and P_BOUNDS.
bool is_array_pair(Dwarf_Die* type);

// "shop.item" of GNAT's shop__item; of other languages the name as it is.
std::string type_name_of(Dwarf_Die* die, std::string name);

}  // namespace dj
