// SPDX-License-Identifier: Apache-2.0
// get_action(), set_action(): read and change the target's signal actions in the kernel.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"
#include "runtime/shared/fault_gates.h"
#include "runtime/shared/trap.h"

namespace dj {

// Make the borrowed thread call rt_sigaction(2). Fail if the kernel refuses or the borrowed thread
// fails.
Result<abi::AppAction> get_action(RemoteCall& call, int signal);
Status set_action(RemoteCall& call, int signal, const abi::AppAction& action);
// Whether the action calls a handler: neither the default action nor to ignore the signal.
bool has_handler(const abi::AppAction& action);
// The same of a program that has not run, and of whose actions djtap has set none: an exec leaves
// them ignored or as they are by default. Empty: the kernel does not tell.
std::optional<abi::AppAction> action_at_begin(pid_t pid, int signal);
// As set_action() with a handler, in such a program, by one stop of its thread. False: the thread
// could not do it that way, or the program does not catch the signal now.
bool set_action_at_begin(RemoteCall& call, int signal, const abi::AppAction& action);
// Returns the signals that the process catches, bit n - 1 for signal n; all bits if the kernel does
// not tell.
uint64_t caught_signals(pid_t pid);
uint64_t caught_signals(const Stopped& stopped);

// enter_gates() makes the kernel call the handlers of faults through gates (fault_gates.h);
// leave_gates() undoes that. Both leave handlers without a gate alone. table: address of the
// process's FaultGates; code: address of gate 0; own_trap: SIGTRAP's action is the session's.
Status enter_gates(Stopped& stopped, uint64_t table, uint64_t code, bool own_trap);
Status leave_gates(Stopped& stopped, uint64_t table);

}  // namespace dj
