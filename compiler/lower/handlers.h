// Handlers: one LLVM function per Plan handler and script function.
#pragma once
#include "compiler/lower/unit.h"

namespace dj::ir {

// Declares all script functions (Unit::functions), so that bodies can call them in any order.
void declare_functions(Unit& unit);
Status define_function(Unit& unit, FunctionId id);
// Defines "dj_handler_N" and says what its detour must push.
Result<HandlerAbi> define_handler(Unit& unit, HandlerId id);

}  // namespace dj::ir
