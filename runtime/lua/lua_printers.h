// SPDX-License-Identifier: Apache-2.0
// Printers of types in Lua tapsets: dj.printer calls its function once, with a stand-in for the
// value; what is done to the stand-in becomes a read plan.
#pragma once
#include "compiler/stages/type_printer.h"

struct lua_State;

namespace dj {

// Adds printer() and its helpers to the table on the stack's top. What they make goes to
// `printers`, which must outlive the state.
void add_printer_functions(lua_State* state, TypePrinters& printers);

}  // namespace dj
