// SPDX-License-Identifier: Apache-2.0
// add_printer_functions() lets Lua tapsets make printers of types. dj.printer calls its function
// once, with a stand-in for the value; what the function does to the stand-in becomes a read plan.
#pragma once
#include "compiler/stages/type_printer.h"

struct lua_State;

namespace dj {

// Adds printer() and its helpers to the table on top of the stack. They put what they make into
// `printers`, which must outlive the state.
void add_printer_functions(lua_State* state, TypePrinters& printers);

}  // namespace dj
