// SPDX-License-Identifier: Apache-2.0
// FaultGates holds the agent's gates, through which the kernel calls the program's handlers of
// faults. A handler sees the address of the faulting instruction in the program, not that of its
// copy in a detour. A gate stands for one handler as long as the session's memory is mapped, so a
// process that has inherited or kept an action with a gate can always use it.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

constexpr uint32_t kFaultGates = 16, kGateBytes = 16;

// In the ThreadTable: a process calls what stands here.
struct FaultGates {
  uint64_t begin;                  // address of gate 0; 0: there are none. By the controller
  uint64_t handlers[kFaultGates];  // the program's; 0: free. By both; what is once there stays
};

// What an instruction can be guilty of: SIGILL, SIGBUS, SIGFPE, SIGSEGV; and SIGTRAP, where that is
// not the session's own (trap.cpp does the same for the program's handler there).
constexpr bool is_fault(int signal, bool own_trap) {
  return signal == 4 || signal == 7 || signal == 8 || signal == 11 || (signal == 5 && !own_trap);
}

// The handler that is called through this gate; of any other address that itself.
inline uint64_t handler_behind(const FaultGates& gates, uint64_t address) {
  const uint64_t gate = (address - gates.begin) / kGateBytes;
  return gates.begin != 0 && gate < kFaultGates ? load(&gates.handlers[gate]) : address;
}

// The gate to this handler; itself where it is none, or no gate is left.
inline uint64_t gate_to(FaultGates& gates, uint64_t handler) {
  constexpr uint64_t kDefault = 0, kIgnore = 1;
  if (gates.begin == 0 || handler == kDefault || handler == kIgnore) return handler;
  if (handler_behind(gates, handler) != handler) return handler;
  for (uint32_t i = 0; i < kFaultGates; i++) {
    uint64_t* const slot = &gates.handlers[i];
    if (load(slot) == 0) static_cast<void>(cas(slot, 0, handler));
    if (load(slot) == handler) return gates.begin + uint64_t{i} * kGateBytes;
  }
  return handler;
}

}  // namespace dj::abi
