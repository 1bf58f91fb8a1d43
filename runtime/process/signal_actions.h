// SPDX-License-Identifier: Apache-2.0
// The target's signal actions, as the kernel has them.
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "runtime/process/remote_call.h"
#include "runtime/shared/fault_gates.h"
#include "runtime/shared/trap.h"

namespace dj {

// rt_sigaction(2), made by the borrowed thread. Fail where the kernel refuses, or with it.
Result<abi::AppAction> get_action(RemoteCall& call, int signal);
Status set_action(RemoteCall& call, int signal, const abi::AppAction& action);
// Is it neither the default one nor to ignore the signal?
bool has_handler(const abi::AppAction& action);
// Bit n - 1: the process catches signal n. All bits where the kernel does not tell.
uint64_t caught_signals(pid_t pid);

// Handlers of faults are called through gates from now on (fault_gates.h), or no longer. What has
// no gate is left alone. table: address of the process's FaultGates; code: of gate 0; own_trap:
// SIGTRAP's action is the session's.
Status enter_gates(Stopped& stopped, uint64_t table, uint64_t code, bool own_trap);
Status leave_gates(Stopped& stopped, uint64_t table);

}  // namespace dj
