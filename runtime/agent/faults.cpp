// SPDX-License-Identifier: Apache-2.0
// Faults of instructions that stand in a detour, as the program's handlers see them: at the
// instruction's own address, with the registers that it had. Java's SafeFetch and its implicit null
// checks, Go's, and sanitizers look that address up.
#include "runtime/agent/faults.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/own_frames.h"
#include "runtime/shared/own_code.h"
#include "runtime/shared/thread_table.h"

using namespace dj;
using namespace dj::agent;

namespace {

// fault_gates.S has it on its stack.
struct FaultFrame {
  uint64_t signal;
  SignalInfo* info;
  UserContext* context;
  TrueContext before;
};

uint64_t word_at(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

}  // namespace

void agent::show_original(SignalInfo* info, UserContext* context, TrueContext* before) {
  uint64_t* const registers = context->registers;
  const uint64_t pc = registers[kRip];
  abi::DetourPlace place;
  before->moved = find_in_detours(pc, &place);
  if (before->moved == 0) return;
  before->rip = pc, before->rsp = registers[kRsp];
  before->r11 = registers[kR11], before->rax = registers[kRax];
  registers[kRip] = place.original;
  registers[kRsp] += place.depth;
  if (place.r11_at != 0) registers[kR11] = word_at(registers[kRsp] - place.r11_at);
  if (place.rax_at != 0) registers[kRax] = word_at(registers[kRsp] - place.rax_at);
  if (info->address == pc) info->address = place.original;
}

void agent::show_no_longer(UserContext* context, const TrueContext& before) {
  uint64_t* const registers = context->registers;
  abi::DetourPlace place;
  if (before.moved == 0 || !find_in_detours(before.rip, &place)) return;
  if (registers[kRip] != place.original) {
    const uint64_t copy = copy_in_detour(before.rip, registers[kRip]);
    if (copy != 0) registers[kRip] = copy;
    return;
  }
  if (registers[kRsp] != before.rsp + place.depth) return;
  registers[kRip] = before.rip;
  registers[kRsp] = before.rsp;
  if (place.depth != 0) registers[kR11] = before.r11, registers[kRax] = before.rax;
}

// Returns the program's handler.
extern "C" uint64_t dj_fault_begins(uint32_t gate, FaultFrame* frame) {
  show_original(frame->info, frame->context, &frame->before);
  return abi::load(&abi::thread_table_of(arena())->faults.handlers[gate]);
}

extern "C" void dj_fault_ends(FaultFrame* frame) { show_no_longer(frame->context, frame->before); }
