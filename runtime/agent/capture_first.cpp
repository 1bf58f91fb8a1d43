// SPDX-License-Identifier: Apache-2.0
// hot: Calls of return probes, what is inlined into handlers: the thread's own entry, when it is
// free for the call, or the call's.
#include "runtime/agent/capture_place.h"

using namespace dj;

namespace {

// The thread's block, unless the fast way is not to be taken.
abi::ThreadBlock* fast_block() {
  if (__builtin_expect(abi::load(&agent::captures()->counting) != 0, 0)) return nullptr;
  return agent::own_block();
}

// Of entries that only this thread claims; signals may come in between, but not inside of one
// instruction.
bool claim_own(uint64_t* word, uint64_t key) {
  bool done;
  uint64_t expected = 0;
  asm volatile("cmpxchgq %[key], %[word]"
               : [word] "+m"(*word), "=@ccz"(done), "+a"(expected)
               : [key] "r"(key)
               : "memory");
  return done;
}

bool take_own(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  abi::Capture* entry = agent::own_entry(fast_block(), handler, slot);
  const bool found = entry != nullptr && abi::load(&entry->owner) == abi::own_key(handler, slot) &&
                     entry->stage == abi::kCalled && entry->epoch == agent::epoch_of(handler);
  if (!found) return false;
  agent::copy_values(values, entry->values, words);
  abi::store(&entry->owner, uint64_t{0});
  return true;
}

}  // namespace

void dj_capture_store(uint32_t handler, uint64_t slot, const uint64_t* values, uint32_t words) {
  abi::Capture* entry = agent::own_entry(fast_block(), handler, slot);
  bool done = entry != nullptr && claim_own(&entry->owner, abi::own_key(handler, slot));
  if (__builtin_expect(!done, 0)) return dj_capture_keep(handler, slot, values, words);
  agent::copy_values(entry->values, values, words);
  entry->epoch = agent::epoch_of(handler);
}

uint32_t dj_capture_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  if (__builtin_expect(!take_own(handler, slot, values, words), 0))
    return dj_capture_find(handler, slot, values, words);
  return 1;
}

uint32_t dj_syscall_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  if (__builtin_expect(!take_own(handler, slot, values, words), 0))
    return dj_syscall_find(handler, slot, values, words);
  return 1;
}
