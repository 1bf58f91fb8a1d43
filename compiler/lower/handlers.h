// SPDX-License-Identifier: Apache-2.0
// Handlers: one LLVM function per Plan handler and script function.
#pragma once
#include "compiler/lower/unit.h"

namespace dj::ir {

// Declares all script functions (Unit::functions), so that bodies can call them in any order.
void declare_functions(Unit& unit);
// Defines "dj_handler_N" and says what its detour must push.
Result<HandlerAbi> define_handler(Unit& unit, HandlerId id);
// Behind all define_handler(): defines the functions that these call, and those that they call.
// Others, as those of a tapset's values which no handler reads, are taken out.
Status define_called_functions(Unit& unit);

}  // namespace dj::ir
