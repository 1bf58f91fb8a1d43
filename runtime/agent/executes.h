// SPDX-License-Identifier: Apache-2.0
// executes.h lets a process that executes another program leave the session. It counts such
// processes by the program's name, for djtap to report.
#pragma once
#include <stdint.h>

#include "runtime/shared/exec_wish.h"

namespace dj::agent {

// To be called before this process executes the program at `path` (the program's pointer; to an
// empty text: a descriptor names it). The target itself is not counted: djtap watches it.
void note_execute(uint64_t path);

// Where the session follows what processes execute: waits until djtap has seen that this thread is
// about to execute the program at `path`, relative to `folder`. state: kExecAsks or kExecLeaves.
// Null: djtap does not follow.
abi::ExecWish* await_follower(uint64_t path, int64_t folder, abi::ExecState state);
// The call of a thread in kExecAsks has failed: waits until djtap has let go of the thread.
void take_back(abi::ExecWish* wish);

// Whether a file is at `path`; true where the kernel may not be asked. execvp() tries the folders
// of $PATH one after the other: calls that must fail are not counted.
bool may_be_there(uint64_t path);

}  // namespace dj::agent
