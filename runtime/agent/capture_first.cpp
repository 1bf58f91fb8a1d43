// hot: Calls of return probes, what is inlined into handlers: the first entry of the bucket, when
// it is free for the call, or the call's.
#include "runtime/agent/capture_place.h"

using namespace dj;
using agent::Place;

namespace {

bool counts() { return __builtin_expect(abi::load(&agent::captures()->counting) != 0, 0); }

// Nothing in the bucket can be this thread's for this handler, and its first entry is free.
inline bool is_new(const Place& place) {
  const abi::Capture* ways = place.bucket->ways;
  if (abi::load(&ways[0].owner) != 0) return false;
  for (uint32_t i = 1; i < abi::kCaptureWays; ++i) {
    if (abi::load(&ways[i].owner) == place.owner) return false;
  }
  return true;
}

inline bool is_the_call(const Place& place, const abi::Capture& entry) {
  return place.has(entry) && entry.stage == abi::kCalled && entry.epoch == place.epoch;
}

}  // namespace

void dj_capture_store(uint32_t handler, uint64_t slot, const uint64_t* values, uint32_t words) {
  Place place(handler, slot);
  abi::Capture& entry = place.bucket->ways[0];
  bool first = !counts() && is_new(place) && abi::cas(&entry.owner, 0, place.owner);
  if (__builtin_expect(!first, 0)) return dj_capture_keep(handler, slot, values, words);
  abi::store(&entry.slot, slot | abi::kSlotUnused);
  agent::copy_values(entry.values, values, words);
  agent::fill(place, entry, abi::kCalled);
}

uint32_t dj_capture_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  Place place(handler, slot);
  abi::Capture& entry = place.bucket->ways[0];
  bool first = !counts() && is_the_call(place, entry);
  if (__builtin_expect(!first, 0)) return dj_capture_find(handler, slot, values, words);
  agent::copy_values(values, entry.values, words);
  abi::store(&entry.slot, slot | abi::kSlotUnused);
  abi::store(&entry.owner, uint64_t{0});
  return 1;
}
