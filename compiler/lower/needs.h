// SPDX-License-Identifier: Apache-2.0
// Needs: what a handler's body asks of its surroundings, found before any code is made: a body that
// only counts takes no context and no site, so that its machine code is the counter alone.
#pragma once
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj::ir {

struct Needs {
  bool context = false;  // scratch memory, loops or calls: dj_enter and dj_leave around the body
  bool site = false;     // events, errors, probefunc()
  bool stack = false;    // walks the program's stack: registers go into the context
};


// Of the body of a Body or Host handler, or of the captures of a Capture handler.
Needs needs_of(const Program& program, const Handler& handler);
// May a probe of the program call exit() or abort()? Then each asks first whether one has.
bool target_ends_session(const Program& program, const Plan& plan);

}  // namespace dj::ir
