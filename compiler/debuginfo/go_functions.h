// SPDX-License-Identifier: Apache-2.0
// Functions of a stripped Go program: its runtime's own table (pclntab) names all of them.
#pragma once
#include "compiler/debuginfo/symbols.h"

namespace dj {

// Appends the functions that the table of Go 1.2, 1.16, 1.18 or 1.20 and later lists. Nothing,
// where `elf` is no Go program or its table is of another form.
void add_go_functions(const ObjectFile& elf, SymbolTable& table);

}  // namespace dj
