// SPDX-License-Identifier: Apache-2.0
// The detour buffer of one site: call the handlers, run the displaced instructions, jump back. And
// the bytes of jumps and breakpoints. Pure: bytes and addresses in, bytes out.
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
// r11 is saved at function entries too: gcc's -fipa-ra lets callers keep values in it across calls.
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
  // Address of a word, within 2 GB of the detour, that holds what is called instead; 0: none.
  uint64_t slot = 0;
  // Address below 2 GB to whose word, in the row of the running thread, this is added; 0: a call.
  // Nothing but flags changes.
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
  // Bit i: control may arrive at the instruction at offset i (Placement::guards), so it has a copy
  // even behind a jump or return.
  uint32_t guards = 0;
  // Return probes at an instruction that leaves the function only sometimes (leaving.h): they run,
  // with the Boundary form, when it does; `calls` before, in any case. None if it always leaves:
  // then all are in `calls`.
  std::vector<HandlerCall> exit_calls;
  Leaving leaving;
  // System call hook behind the handlers: call it right before the instruction at handlers_at. When
  // it returns with CF set, skip that instruction; with neither CF nor ZF, make it in the detour
  // and call `child_hook` behind it, in whoever comes back. 0: none.
  uint64_t syscall_hook = 0;
  uint64_t child_hook = 0;  // not 0 where syscall_hook is not
  // From this offset of the region on the text keeps its bytes: a system call there, but before the
  // handlers, is made in its place, so that whoever sleeps in it stands where debuggers and
  // unwinders know the way. 0: none.
  uint32_t intact_from = 0;
  // So many bytes at the region's end are there as they belong to a short function
  // (whole_function.h).
  uint32_t rest = 0;
};

struct Detour {
  std::vector<uint8_t> bytes;
  // Where each original instruction of the region stands in the detour: (offset in region, offset
  // in bytes), ascending. The instruction that the handlers precede stands where they begin, but at
  // offset 0, and where a system call is hooked: that is its relocated copy. A jump or trap to IA
  // goes to the detour's begin.
  std::vector<std::pair<uint32_t, uint32_t>> copies;
  // The copies alone, without the handlers before them: what of `bytes` is the program's own.
  struct Piece {
    uint32_t offset, begin, end;  // in the region; in bytes
  };
  std::vector<Piece> pieces;
  uint32_t end = 0;  // of what the pieces stand for, in the region
};

// An upper bound of build_detour()'s bytes, independent of the addresses.
uint32_t detour_bytes_max(const DetourRequest& request);
// The same of its parts: a call of a handler, and a detour for so many displaced bytes, the last
// `rest` of them the request's, whose calls take so many.
uint32_t call_bytes_max(const std::vector<uint8_t>& stack_regs);
uint32_t detour_bytes_max(uint32_t displaced, uint32_t rest, uint32_t calls, bool always_leaves);
// The detour at address `to`. Fails when something is farther than 2 GB or cannot be relocated.
Result<Detour> build_detour(const DetourRequest& request, uint64_t to);
// The same into `detour`, whose memory is used again.
Status build_detour(const DetourRequest& request, uint64_t to, Detour& detour);

// e9 rel32 from `from` to `to`, or an error when out of reach.
Result<std::vector<uint8_t>> encode_jump(uint64_t from, uint64_t to);
constexpr uint8_t kInt3 = 0xcc;

// Relocates one instruction (checker.h, check 6): rip-relative operands, relative
// branches (short to near; loop and jrcxz as a pair), calls as push of the original next address +
// jump. Fails with the reason when it cannot run elsewhere.
Result<std::vector<uint8_t>> relocate(std::span<const uint8_t> insn, uint64_t from, uint64_t to);

}  // namespace dj::arch
