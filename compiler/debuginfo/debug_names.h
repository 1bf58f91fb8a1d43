// What debug information says of a function's name: what its symbol leaves out or writes otherwise.
#pragma once
#include <elfutils/libdw.h>

#include <string>

#include "compiler/debuginfo/pattern.h"

namespace dj {

// The names of the DIEs around the function and its own, as gdb joins them:
// "r::shapes::Point<f32>::length<f32>".
std::string debug_name(Dwarf_Die function);

// All that the meaning asks of debug information is so. True where it asks for nothing.
bool confirmed(const NameMatcher::Meaning& meaning, const NameMatcher& matcher, Dwarf_Die function);

}  // namespace dj
