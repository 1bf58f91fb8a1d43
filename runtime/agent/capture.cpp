// Entry values of return probes: stored at a function's entry, taken at its exit by the same
// thread.
#include "runtime/shared/capture.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/frame.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;

namespace {

struct Bucket {
  abi::Capture ways[abi::kCaptureWays];
};

Bucket* bucket_of(uint64_t owner, uint64_t slot) {
  auto* captures = reinterpret_cast<abi::Captures*>(arena()->captures);
  if (captures == nullptr) return nullptr;
  uint64_t hash = (owner ^ slot >> 3) * 0x9e3779b97f4a7c15ull;
  return reinterpret_cast<Bucket*>(captures + 1) + (hash >> 32 & captures->bucket_mask);
}

uint64_t owner_word(uint32_t tid, uint32_t probe) { return uint64_t{tid} << 32 | (probe + 1); }

// An entry of `bucket` for this thread, or null. Slot 0 keeps it from being found before its values
// stand in it.
abi::Capture* claim(Bucket* bucket, uint64_t owner, uint32_t tid) {
  for (abi::Capture& entry : bucket->ways) {
    if (abi::load(&entry.owner) == 0 && abi::cas(&entry.owner, 0, owner)) return &entry;
  }
  uint64_t stack = agent::stack_pointer();
  for (abi::Capture& entry : bucket->ways) {
    uint64_t seen = abi::load(&entry.owner);
    auto other = static_cast<uint32_t>(seen >> 32);
    bool stale = other == tid ? agent::frame_is_gone(abi::load(&entry.slot), stack)
                              : agent::thread_is_gone(other);
    if (stale && abi::cas(&entry.owner, seen, owner)) {
      abi::store(&entry.slot, uint64_t{0});
      return &entry;
    }
  }
  return nullptr;
}

abi::Capture* find(Bucket* bucket, uint64_t owner, uint64_t slot) {
  for (abi::Capture& entry : bucket->ways) {
    if (abi::load(&entry.owner) == owner && abi::load(&entry.slot) == slot) return &entry;
  }
  return nullptr;
}

}  // namespace

void dj_capture_store(uint32_t probe, uint64_t slot, const uint64_t* values, uint32_t count) {
  uint32_t tid = agent::thread_id();
  uint64_t owner = owner_word(tid, probe);
  Bucket* bucket = bucket_of(owner, slot);
  // The same frame address again: what stood there was left by a frame that never returned.
  abi::Capture* entry = bucket == nullptr ? nullptr : find(bucket, owner, slot);
  if (entry == nullptr && bucket != nullptr) entry = claim(bucket, owner, tid);
  if (entry == nullptr) {
    agent::count_skip(abi::kSkipReturnFull);
    return;
  }
  for (uint32_t i = 0; i < count && i < abi::kMaxCaptures; ++i) entry->values[i] = values[i];
  abi::store(&entry->slot, slot);
}

uint32_t dj_capture_take(uint32_t probe, uint64_t slot, uint64_t* values, uint32_t count) {
  uint64_t owner = owner_word(agent::thread_id(), probe);
  Bucket* bucket = bucket_of(owner, slot);
  abi::Capture* entry = bucket == nullptr ? nullptr : find(bucket, owner, slot);
  if (entry == nullptr) {
    agent::count_skip(abi::kSkipReturnMiss);
    return 0;
  }
  for (uint32_t i = 0; i < count && i < abi::kMaxCaptures; ++i) values[i] = entry->values[i];
  abi::store(&entry->slot, uint64_t{0});
  abi::store(&entry->owner, uint64_t{0});
  return 1;
}
