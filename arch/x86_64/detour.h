// SPDX-License-Identifier: Apache-2.0
// build_detour() makes the detour of one site: code that calls the handlers, runs the displaced
// instructions and jumps back. This file also makes the bytes of jumps and breakpoints. All
// functions are pure: they take bytes and addresses and give bytes.
//
// clang-format off
//   Boundary                          Middle
//     push %r11                         lea -128(%rsp),%rsp        skip the red zone
//     push regs.., push $site           push %r11; push %rax
//     call handler                      lahf; seto %al; push %rax  flags
//     lea 8*n(%rsp),%rsp                push regs.., push $site; call handler; lea ..
//     pop %r11                          pop %rax; add $127,%al; sahf; pop %rax; pop %r11
//     <relocated DCR>                   lea 128(%rsp),%rsp
//     jmp RA                            <relocated DCR>; jmp RA
// clang-format on
//
// A detour saves r11 at function entries too: gcc's -fipa-ra lets callers keep values in it across
// calls.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/leaving.h"
#include "arch/x86_64/registers.h"
#include "compiler/base/result.h"

namespace dj::arch {

enum class Form : uint8_t { Boundary, Middle };
// Bytes between the stack pointer at the site and the first pushed stack argument.
constexpr uint32_t kFrameBytes[2] = {8, 128 + 24};

struct HandlerCall {
  uint64_t address = 0;             // of the handler, within 2 GB of the detour
  std::vector<uint8_t> stack_regs;  // see HandlerAbi in compiler/stages/image.h
  bool wants_site = false;
  uint32_t site = 0;
  // Address of a word, within 2 GB of the detour, that holds the address to call instead; 0: none.
  uint64_t slot = 0;
  // Address below 2 GB of a word in the running thread's row: the detour adds `count_add` to it
  // instead of a call, and changes only flags. 0: a call.
  uint64_t count_word = 0;
  int32_t count_add = 0;
};

struct DetourRequest {
  std::span<const uint8_t>
      region;  // original bytes of the DCR (or of the single instruction of an int3 site)
  uint64_t original = 0;  // runtime address of the DCR
  Form form = Form::Boundary;
  std::vector<HandlerCall> calls;
  // Return probes: bytes of region before this offset run first, then the handlers, then the rest
  // (the exit instruction). 0: handlers first.
  uint32_t handlers_at = 0;
  // Bit i: control may arrive at the instruction at offset i (Placement::guards), so the detour has
  // a copy of it even behind a jump or return.
  uint32_t guards = 0;
  // Return probes at an instruction that leaves the function only sometimes (leaving.h): these
  // handlers run, with the Boundary form, when it leaves; those of `calls` run before, in any case.
  // Empty if it always leaves: all handlers are in `calls` then.
  std::vector<HandlerCall> exit_calls;
  Leaving leaving;
  // Address of the system call hook behind the handlers; 0: none. The detour calls it right before
  // the instruction at handlers_at. When the hook returns with CF set, the detour skips that
  // instruction. When it returns with neither CF nor ZF, the detour makes the system call itself
  // and calls `child_hook` behind it, in each thread or process that comes back from it.
  uint64_t syscall_hook = 0;
  uint64_t child_hook = 0;  // not 0 where syscall_hook is not
  // From this offset of the region on the text keeps its bytes; 0: none. The detour makes a system
  // call that stands there, before the handlers, at its original place, so that debuggers and
  // unwinders understand a thread that sleeps in it.
  uint32_t intact_from = 0;
  // Bytes at the region's end that are in it only because they belong to a short function
  // (whole_function.h).
  uint32_t rest = 0;
};

struct Detour {
  std::vector<uint8_t> bytes;
  // The place of each original instruction of the region in the detour: (offset in region, offset
  // in bytes), ascending. The instruction that the handlers precede has the place where the
  // handlers begin. There are two exceptions: at offset 0, and where the detour hooks a system
  // call, its place is that of its relocated copy. A jump or trap to IA goes to the detour's begin.
  std::vector<std::pair<uint32_t, uint32_t>> copies;
  // Piece is one copy alone, without the handlers before it: the part of `bytes` that is the
  // program's own.
  struct Piece {
    uint32_t offset, begin, end;  // in the region; in bytes
  };
  std::vector<Piece> pieces;
  uint32_t end = 0;  // end of what the pieces stand for, in the region
};

// Returns an upper bound of the bytes that build_detour() makes, independent of the addresses.
uint32_t detour_bytes_max(const DetourRequest& request);
// Returns the bound of one call of a handler; and the bound of a detour for `displaced` bytes, of
// which the last `rest` are DetourRequest::rest, with `calls` bytes of handler calls.
uint32_t call_bytes_max(const std::vector<uint8_t>& stack_regs);
uint32_t detour_bytes_max(uint32_t displaced, uint32_t rest, uint32_t calls, bool always_leaves);
// Builds the detour for the address `to`. Fails when a target is farther than 2 GB or an
// instruction cannot be relocated.
Result<Detour> build_detour(const DetourRequest& request, uint64_t to);
// Builds it into `detour`, and uses the memory of `detour` again.
Status build_detour(const DetourRequest& request, uint64_t to, Detour& detour);

// Returns the bytes of `e9 rel32` at `from` that lead to `to`. Fails when `to` is out of reach.
Result<std::vector<uint8_t>> encode_jump(uint64_t from, uint64_t to);
constexpr uint8_t kInt3 = 0xcc;

// Relocates one instruction (checker.h, check 6): rip-relative operands, relative
// branches (short to near; loop and jrcxz as a pair), calls as push of the original next address +
// jump. Fails with the reason when it cannot run elsewhere.
Result<std::vector<uint8_t>> relocate(std::span<const uint8_t> insn, uint64_t from, uint64_t to);

}  // namespace dj::arch
