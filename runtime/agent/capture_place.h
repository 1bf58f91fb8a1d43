// Place: all calls of one handler that have their return address at one slot of one thread, and the
// bucket of the Captures that holds them.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/rare.h"
#include "runtime/agent/thread.h"
#include "runtime/shared/capture.h"

#pragma GCC visibility push(hidden)
extern "C" {
// capture.cpp. What dj_capture_store and dj_capture_take do, whatever stands in the bucket.
DJ_RARE void dj_capture_keep(uint32_t handler, uint64_t slot, const uint64_t* values,
                             uint32_t words);
DJ_RARE uint32_t dj_capture_find(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words);
}
#pragma GCC visibility pop

namespace dj::agent {

struct Bucket {
  abi::Capture ways[abi::kCaptureWays];
};

inline abi::Captures* captures() { return reinterpret_cast<abi::Captures*>(arena()->captures); }

struct Place {
  Place(uint32_t handler, uint64_t slot)
      : slot(slot),
        tid(thread_id()),
        handler(handler),
        owner(uint64_t{tid} << 32 | (handler + 1)),
        epoch(static_cast<uint32_t>(abi::load(&abi::capture_count(captures(), handler)->epoch))) {
    uint64_t hash = (owner ^ slot >> 3) * 0x9e3779b97f4a7c15ull;
    bucket =
        reinterpret_cast<Bucket*>(captures()->buckets) + (hash >> 32 & captures()->bucket_mask);
  }
  bool has(const abi::Capture& entry) const {
    return abi::load(&entry.owner) == owner && abi::load(&entry.slot) == slot;
  }
  uint64_t slot;
  uint32_t tid, handler;
  uint64_t owner;
  uint32_t epoch;
  Bucket* bucket;
};

inline void fill(const Place& place, abi::Capture& entry, uint32_t stage) {
  entry.stage = stage;
  entry.epoch = place.epoch;
  entry.calls = 1;
  abi::store(&entry.slot, place.slot);
}

inline void copy_values(uint64_t* to, const uint64_t* from, uint32_t count) {
  for (uint32_t i = 0; i < count && i < abi::kMaxCaptures; ++i) to[i] = from[i];
}

}  // namespace dj::agent
