// SPDX-License-Identifier: Apache-2.0
// Own stacks, what their taker (own_stack.S) leaves to C++: whose they are, and those that nobody
// will give back.
#include "runtime/shared/own_stack.h"

#include "runtime/agent/frame.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;

namespace {

// What own_stack.S says of them.
using Top = abi::OwnStackTop;
static_assert(abi::kOwnStacks == 128 && abi::kOwnStackBytes == 1 << 16);
static_assert(offsetof(abi::OwnStackWords, pages) == sizeof(uint64_t) * abi::kOwnStacks);
constexpr uint64_t kRunsFromWords =
    offsetof(abi::ThreadTable, own_stack_runs) - offsetof(abi::ThreadTable, own_stacks);
static_assert(kRunsFromWords == 5841016);
static_assert(abi::OwnStackWords::kPages == 256 && sizeof(Top) == 128);
static_assert(offsetof(Top, program_stack) == 0 && offsetof(Top, rax) == 8);
static_assert(offsetof(Top, record) == 16 && offsetof(Top, taken) == 24);
static_assert(offsetof(Top, mark) == 32 && offsetof(Top, masked) == 40);
static_assert(offsetof(Top, saved) == 48 && offsetof(Top, signal_stack) == 88);
static_assert(offsetof(Top, all_signals) == 112 && offsetof(Top, old_mask) == 120);
static_assert(abi::kOwnStackMark == 0x6b436174);
static_assert(offsetof(abi::OwnStackRecord, code) == 0);
static_assert(offsetof(abi::OwnStackRecord, words) == 8);
static_assert(offsetof(abi::OwnStackRecord, must) == 12 && abi::kMustRunUnmasked == 2);
static_assert(offsetof(abi::Header, first_stack) == 240);  // trap_entry.S
static_assert((abi::asked_bit(agent::kSysSigaltstack) | abi::asked_bit(agent::kSysRtSigprocmask)) ==
              0x4000100);

// Of a thread that has ended; or of this one, which runs neither on a signal stack nor on an own
// one (in a signal handler that came there), so that what it did there before it has left (longjmp,
// exception).
bool is_left_behind(uint64_t word, uint32_t tid, uint64_t stack) {
  const auto owner = static_cast<uint32_t>(abi::own_stack_owner(word));
  if (owner == 0) return false;
  if (owner != tid) return agent::thread_is_gone(owner);
  agent::SignalStack alternate;
  return !agent::is_own_stack(stack) && agent::ask_signal_stack(&alternate) &&
         !alternate.holds(stack);
}

// But `here`, on which the thread runs now.
DJ_COLD_CALL __attribute__((noinline)) void free_those_left_behind(abi::OwnStackWords& words,
                                                                   const uint64_t* here,
                                                                   uint32_t tid, uint64_t stack) {
  for (uint64_t& word : words.taken) {
    const uint64_t seen = abi::load(&word);
    if (&word != here && is_left_behind(seen, tid, stack)) abi::cas(&word, seen, 0);
  }
}

}  // namespace

#pragma GCC visibility push(hidden)
extern "C" {
// The stack that this runs on was taken.
DJ_COLD_CALL void dj_own_stack_begins() {
  uint64_t here;
  asm volatile("movq %%rsp, %0" : "=r"(here));
  const auto* top = reinterpret_cast<const Top*>(abi::own_stack_top(here));
  abi::ThreadTable* table = abi::thread_table_of(arena());
  abi::OwnStackWords& words = table->own_stacks;
  auto* word = reinterpret_cast<uint64_t*>(top->taken);
  // Without rseq the kernel would have to be asked.
  const uint32_t tid = agent::thread_table() != nullptr ? agent::thread_id() : 0;
  abi::store(&table->own_stack_runs[word - words.taken], agent::run_of_thread());
  abi::store(word, abi::own_stack_word(tid));
  constexpr uint32_t kMany = abi::kOwnStacks * 3 / 4;  // are taken; each taker looks from then on
  if (word >= &words.taken[kMany]) free_those_left_behind(words, word, tid, top->program_stack);
}

// No stack is free; the hit is skipped.
DJ_COLD_CALL void dj_own_stack_missed() { agent::count_skip(abi::kSkipNoContext); }
}
#pragma GCC visibility pop
