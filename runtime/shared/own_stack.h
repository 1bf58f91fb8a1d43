// SPDX-License-Identifier: Apache-2.0
// OwnStack is a stack on which a handler runs where the program's may have no room: a goroutine's,
// a coroutine's, a signal stack. A thread takes one for the time of a handler (agent/own_stack.S).
// They lie in private memory, each at a multiple of its bytes; a word of the ThreadTable says of
// each whether it is taken. Freestanding.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace dj::abi {

// Bytes below the program's stack pointer, where a function begins or ends, or in its middle (with
// the red zone), that a probe uses of the program's stack where that is not known to have room.
constexpr int64_t kMostOfProgramStack = 256;

constexpr uint32_t kOwnStacks = 128;
constexpr uint64_t kOwnStackBytes = 1 << 16;
constexpr uint64_t kOwnStacksBytes = kOwnStacks * kOwnStackBytes;
// OwnStackWords: what private memory says of them.
struct OwnStackWords {
  uint64_t taken[kOwnStacks];  // own_stack_word() of its taker; 0: the stack is free
  // Pages of the program's that were no signal stack when a thread came from there, as address >>
  // 12, each at that modulo the size.
  static constexpr uint32_t kPages = 256;
  uint64_t pages[kPages];
};

// OwnStackTop: the highest bytes of an OwnStack, written by its taker.
struct OwnStackTop {
  // The program's stack pointer, below the return address into the detour and a saved register.
  uint64_t program_stack;
  uint64_t rax;              // the program's
  uint64_t record;           // address of the OwnStackRecord
  uint64_t taken;            // address of this stack's word in OwnStackWords
  uint64_t mark;             // kOwnStackMark
  uint64_t masked;           // 1: signals are blocked, and old_mask is the program's mask
  uint64_t saved[5];         // scratch of the taker, as what follows
  uint64_t signal_stack[3];  // stack_t
  uint64_t all_signals, old_mask;
};
static_assert(sizeof(OwnStackTop) == 128);
constexpr uint64_t kOwnStackMark = 0x6b436174;
constexpr uint64_t kAboveProgramStack = 8;  // the return address is so far above program_stack

// OwnStackRecord: what runs on an own stack, if need be. Read-only.
struct OwnStackRecord {
  uint64_t code;   // address
  uint32_t words;  // stack arguments
  uint32_t must;   // OwnStackMust
};
enum OwnStackMust : uint32_t {
  kMayBeSkipped,    // does not run where no own stack is free
  kMustRun,         // runs on the program's stack there
  kMustRunUnmasked  // the same, and where signals would have to be blocked
};

// Where the OwnStackTop of the own stack lies that `address` is in.
constexpr uint64_t own_stack_top(uint64_t address) {
  return (address | (kOwnStackBytes - 1)) + 1 - sizeof(OwnStackTop);
}

// The taker's number; 0: not known.
constexpr uint64_t own_stack_owner(uint64_t word) { return word >> 32; }
constexpr uint64_t own_stack_word(uint32_t tid) { return uint64_t{tid} << 32 | 1; }

}  // namespace dj::abi
