// SPDX-License-Identifier: Apache-2.0
// What debug information says of a function's name: what its symbol leaves out or writes otherwise.
#pragma once
#include <elfutils/libdw.h>

#include <string>

#include "compiler/debuginfo/pattern.h"

namespace dj {

// The names of the DIEs around the function and its own, as gdb joins them:
// "r::shapes::Point<f32>::length<f32>".
std::string debug_name(Dwarf_Die function);

// What the meaning asks of the language and the namespaces around the function is so.
bool is_as_meant(const NameMatcher::Meaning& meaning, Dwarf_Die function);

}  // namespace dj
