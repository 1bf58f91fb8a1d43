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

uint64_t owner_of(abi::ThreadBlock* block, uint32_t handler) {
  return agent::owner_word(agent::tid_of(abi::load(&block->word)), handler);
}

// Of entries that only this thread claims; signals may come in between, but not inside of one
// instruction.
bool claim_own(uint64_t* word, uint64_t owner) {
  bool done;
  uint64_t expected = 0;
  asm volatile("cmpxchgq %[owner], %[word]"
               : [word] "+m"(*word), "=@ccz"(done), "+a"(expected)
               : [owner] "r"(owner)
               : "memory");
  return done;
}

}  // namespace

void dj_capture_store(uint32_t handler, uint64_t slot, const uint64_t* values, uint32_t words) {
  abi::ThreadBlock* block = fast_block();
  abi::Capture* entry = block != nullptr ? &agent::own_entry(block, handler, slot) : nullptr;
  bool done = entry != nullptr && claim_own(&entry->owner, owner_of(block, handler));
  if (__builtin_expect(!done, 0)) return dj_capture_keep(handler, slot, values, words);
  abi::store(&entry->slot, slot | abi::kSlotUnused);
  agent::copy_values(entry->values, values, words);
  agent::fill(*entry, slot, agent::epoch_of(handler), abi::kCalled);
}

uint32_t dj_capture_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  abi::ThreadBlock* block = fast_block();
  abi::Capture* entry = block != nullptr ? &agent::own_entry(block, handler, slot) : nullptr;
  bool found = entry != nullptr && abi::load(&entry->owner) == owner_of(block, handler) &&
               abi::load(&entry->slot) == slot && entry->stage == abi::kCalled &&
               entry->epoch == agent::epoch_of(handler);
  if (__builtin_expect(!found, 0)) return dj_capture_find(handler, slot, values, words);
  agent::copy_values(values, entry->values, words);
  abi::store(&entry->slot, slot | abi::kSlotUnused);
  abi::store(&entry->owner, uint64_t{0});
  return 1;
}
