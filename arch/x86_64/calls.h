// SPDX-License-Identifier: Apache-2.0
// The calls that a function's code makes, and whom: direct ones, tail jumps, and those through a
// word of the module (call *foo@GOTPCREL(%rip)).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "arch/x86_64/decode.h"

namespace dj::arch {

// From the first byte up to, not including, `end`.
struct Extent {
  uint64_t begin = 0, end = 0;
};

struct CallSite {
  uint64_t address = 0;  // of the call or jump
  uint64_t target = 0;   // where to; 0: what `slot` holds
  uint64_t slot = 0;     // address of the word that holds the target; 0: none
  bool tail = false;     // a jump: the return address is on the stack already
  uint64_t next = 0;     // address of the instruction behind it
};

// Of the code `bytes` at `address`, in order. Decodes from the first byte to the last, or to the
// first that is no instruction. Calls through registers are not among them.
std::vector<CallSite> calls_in(std::span<const uint8_t> bytes, uint64_t address);
// Whether the code `part`, at `at`, belongs to the function whose code is `whole`, at `begin`:
// jumps of one lead into the other's middle, or conditional ones of `whole` to the part's first
// byte.
bool is_one_function(std::span<const uint8_t> whole, uint64_t begin, std::span<const uint8_t> part,
                     uint64_t at);
// All that may be a direct call (e8) or jump (e9) within the bytes, sorted: where to, and the
// address behind it. Some are parts of other instructions.
std::vector<std::pair<uint64_t, uint64_t>> direct_transfers(std::span<const uint8_t> bytes,
                                                            uint64_t address);
// Where an instruction loads the constant into a register (mov $value,%reg).
std::vector<uint64_t> constant_loads(std::span<const uint8_t> bytes, uint64_t address,
                                     uint32_t value);
// Where the bytes of a `syscall` stand in `bytes`, which begin at `address`; some may be parts of
// other instructions.
constexpr uint64_t kSyscallLength = 2;
std::vector<uint64_t> syscall_bytes(std::span<const uint8_t> bytes, uint64_t address);
// The instruction in which `place`, an address of the code, lies; the last one before it where the
// code cannot be decoded as far. It begins at `place` if and only if a probe may stand there.
Extent instruction_around(std::span<const uint8_t> bytes, uint64_t address, uint64_t place);
// Whether the code behind a call, from `next` on, reads what the called function has left in the
// registers `left` before it overwrites all of them. One that returns hands on what is in
// `returned`, its own result's registers: that counts. False where it does not come to light before
// another call, a computed jump or 64 instructions; of conditional jumps only the way without a
// jump is followed. `code` gives what is at an address.
bool uses_result(const std::function<std::span<const uint8_t>(uint64_t)>& code, uint64_t next,
                 ResultRegisters left, ResultRegisters returned);

}  // namespace dj::arch
