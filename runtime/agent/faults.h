// SPDX-License-Identifier: Apache-2.0
// show_original() shows the program's handlers of faults and traps a thread that stands in a detour
// as one that stands in the program's own code.
#pragma once
#include "runtime/agent/user_context.h"

namespace dj::agent {

// TrueContext: what show_original() has changed. Lies in the frame of the function that calls the
// handler.
struct TrueContext {
  uint64_t moved;  // 0: nothing, the thread is in no detour
  uint64_t rip, rsp, r11, rax;
};

// The context and the signal's address become those of the program's own instruction.
void show_original(SignalInfo* info, UserContext* context, TrueContext* before);
// The handler has returned, and may have changed the context: to go on at the same instruction is
// to go on in the detour; others that the jump is written over are there, too.
void show_no_longer(UserContext* context, const TrueContext& before);

}  // namespace dj::agent
