// Faults of instructions that stand in a detour, as the program's handlers see them: at the
// instruction's own address, with the registers that it had. Java's SafeFetch and its implicit null
// checks, Go's, and sanitizers look that address up.
#include "runtime/agent/arena.h"
#include "runtime/agent/own_frames.h"
#include "runtime/agent/user_context.h"
#include "runtime/shared/own_code.h"

using namespace dj;
using namespace dj::agent;

namespace {

// fault_gates.S has it on its stack.
struct FaultFrame {
  uint64_t signal;
  SignalInfo* info;
  UserContext* context;
  uint64_t moved;  // the context is changed
  // What it was.
  uint64_t rip, rsp, r11, rax;
};

uint64_t word_at(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

// The program's registers from a thread's in a detour.
void show_original(UserContext& context, const abi::DetourPlace& place) {
  uint64_t* const registers = context.registers;
  registers[kRip] = place.original;
  registers[kRsp] += place.depth;
  if (place.r11_at != 0) registers[kR11] = word_at(registers[kRsp] - place.r11_at);
  if (place.rax_at != 0) registers[kRax] = word_at(registers[kRsp] - place.rax_at);
}

}  // namespace

// Returns the program's handler.
extern "C" uint64_t dj_fault_begins(uint32_t gate, FaultFrame* frame) {
  uint64_t* const registers = frame->context->registers;
  const uint64_t pc = registers[kRip];
  abi::DetourPlace place;
  frame->moved = find_in_detours(pc, &place);
  if (frame->moved != 0) {
    frame->rip = pc, frame->rsp = registers[kRsp];
    frame->r11 = registers[kR11], frame->rax = registers[kRax];
    show_original(*frame->context, place);
    if (frame->info->address == pc) frame->info->address = place.original;
  }
  return abi::load(&abi::fault_gates(arena())->handlers[gate]);
}

// The handler has returned, and may have changed the context: to go on at the same instruction is
// to go on in the detour; others that the jump is written over are there, too.
extern "C" void dj_fault_ends(FaultFrame* frame) {
  uint64_t* const registers = frame->context->registers;
  abi::DetourPlace place;
  if (!find_in_detours(frame->rip, &place)) return;
  if (registers[kRip] != place.original) {
    const uint64_t copy = copy_in_detour(frame->rip, registers[kRip]);
    if (copy != 0) registers[kRip] = copy;
    return;
  }
  if (registers[kRsp] != frame->rsp + place.depth) return;
  registers[kRip] = frame->rip;
  registers[kRsp] = frame->rsp;
  if (place.depth != 0) registers[kR11] = frame->r11, registers[kRax] = frame->rax;
}
