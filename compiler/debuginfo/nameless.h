// SPDX-License-Identifier: Apache-2.0
// Nameless functions: those of a stripped file, as its unwind information (.eh_frame) tells of
// them. Each is called by its address: "0x4a10".
#pragma once
#include <string_view>

#include "compiler/debuginfo/symbols.h"

namespace dj {

// Appends to `table` the functions of `elf` in which no symbol begins or reaches: the ranges of
// .eh_frame that begin as a called function does, with the return address on top of the stack. A
// part that the compiler moved away (.cold) mostly does not, and is left out. Stubs of the PLT are
// left out too.
void add_nameless(const ObjectFile& elf, SymbolTable& table);

// Whether a name pattern could mean nameless functions: "*", "0x4*".
bool may_mean_nameless(std::string_view pattern);

}  // namespace dj
