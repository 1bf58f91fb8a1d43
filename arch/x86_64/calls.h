// SPDX-License-Identifier: Apache-2.0
// calls_in() finds the calls that a function's code makes and their targets: direct calls, tail
// jumps, and calls through a word of the module (call *foo@GOTPCREL(%rip)).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/x86_64/decode.h"

namespace dj::arch {

// Extent is the address range [begin, end).
struct Extent {
  uint64_t begin = 0, end = 0;
};

struct CallSite {
  uint64_t address = 0;  // of the call or jump
  uint64_t target = 0;   // where to; 0: what `slot` holds
  uint64_t slot = 0;     // address of the word that holds the target; 0: none
  bool tail = false;     // a jump: the caller's return address is on the stack
  uint64_t next = 0;     // address of the instruction behind it
};

// Returns the calls in the code `bytes`, which stands at `address`, in order. Decodes from the
// first byte to the last, or to the first that is no instruction. Leaves out calls through
// registers.
std::vector<CallSite> calls_in(std::span<const uint8_t> bytes, uint64_t address);
// Whether the code `part`, which stands at `at`, belongs to the function whose code is `whole` and
// begins at `begin`: a jump of either leads into the other's middle, or a conditional jump of
// `whole` leads to the part's first byte.
bool is_one_function(std::span<const uint8_t> whole, uint64_t begin, std::span<const uint8_t> part,
                     uint64_t at);
// Returns every byte sequence in `bytes` that may be a direct call (e8) or jump (e9), as (target,
// address behind it), sorted. Some are parts of other instructions.
std::vector<std::pair<uint64_t, uint64_t>> direct_transfers(std::span<const uint8_t> bytes,
                                                            uint64_t address);
// Returns the addresses of the instructions that load the constant `value` into a register (mov
// $value,%reg).
std::vector<uint64_t> constant_loads(std::span<const uint8_t> bytes, uint64_t address,
                                     uint32_t value);
// Returns the addresses at which the two bytes of a `syscall` stand in `bytes`, which begin at
// `address`. Some may be parts of other instructions.
constexpr uint64_t kSyscallLength = 2;
std::vector<uint64_t> syscall_bytes(std::span<const uint8_t> bytes, uint64_t address);
constexpr int64_t kUnknownNumber = -1;
// SystemCall is what the code around a `syscall` tells of it.
struct SystemCall {
  int64_t number = kUnknownNumber;  // so if it is computed, handed over by the caller, or differs
  bool is_joined = false;           // a jump leads to the instruction behind the `syscall`
};
// Returns the system call that the `syscall` at the address `place` makes, in a function whose code
// is `code` and begins at `begin`. Nothing: no instruction begins at `place`.
std::optional<SystemCall> system_call_in(std::span<const uint8_t> code, uint64_t begin,
                                         uint64_t place);
// Returns the instruction in which `place`, an address of the code, lies. Where decoding fails
// before `place`, returns the last instruction decoded. A probe may stand at `place` if and only if
// the instruction begins there.
Extent instruction_around(std::span<const uint8_t> bytes, uint64_t address, uint64_t place);
// Whether the code behind a call, from `next` on, reads what the called function has left in the
// registers `left` before it overwrites all of them. A return counts as a read of the registers
// `returned`, which hold the code's own result. Returns false when it finds no read before another
// call, a computed jump or 64 instructions; of a conditional jump it follows only the way without a
// jump. `code` gives the bytes at an address.
bool uses_result(const std::function<std::span<const uint8_t>(uint64_t)>& code, uint64_t next,
                 ResultRegisters left, ResultRegisters returned);

}  // namespace dj::arch
