// SPDX-License-Identifier: Apache-2.0
// KeptCalls reads what the arena holds of the calls that return probes follow.
#pragma once
#include <cstdint>

#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "runtime/process/untrusted.h"
#include "runtime/shared/capture.h"

namespace dj {

class KeptCalls {
 public:
  // plan: the session's first one.
  KeptCalls(const Plan& plan, const Layout& layout)
      : KeptCalls(ArenaView(layout.base, layout.bytes), layout.words.captures,
                  capture_handlers(plan)) {}
  // captures: Layout::words. handlers: the number of handlers that the arena has room for.
  KeptCalls(ArenaView arena, uint64_t captures, uint64_t handlers)
      : arena_(arena), captures_(captures), handlers_(handlers) {}

  // Returns the counts of a handler; all are zero if there is no such handler.
  abi::CaptureCount count(HandlerId handler) const {
    abi::CaptureCount count = {};
    if (handler < handlers_) arena_.copy(count_at(handler), &count, sizeof count);
    return count;
  }
  // Returns how many entries the buckets have. All counted calls are in these entries.
  static constexpr uint64_t entries() { return uint64_t{abi::kCaptureBuckets} * abi::kCaptureWays; }
  // Returns a copy of entry `index`, which is less than entries().
  abi::Capture entry(uint64_t index) const {
    abi::Capture entry = {};
    arena_.copy(entry_at(index), &entry, sizeof entry);
    return entry;
  }
  // Whether `entry`, a copy, holds calls.
  static bool holds_calls(const abi::Capture& entry) {
    return entry.owner != 0 && entry.slot != 0 && (entry.slot & abi::kSlotUnused) == 0;
  }
  // Return the handler, and the number of the thread, whose calls the entry holds.
  static HandlerId handler_of(const abi::Capture& entry) {
    return static_cast<HandlerId>(entry.owner) - 1;
  }
  static uint32_t thread_of(const abi::Capture& entry) {
    return static_cast<uint32_t>(entry.owner >> 32);
  }
  // Counts the calls of the entry as abandoned, since no thread will return from them. Call it
  // while the target is stopped.
  void abandon(uint64_t index) const;

 private:
  uint64_t count_at(HandlerId handler) const {
    return captures_ + uint64_t{handler} * sizeof(abi::CaptureCount);
  }
  uint64_t entry_at(uint64_t index) const {
    return captures_ + abi::capture_counts_bytes(handlers_) + index * sizeof(abi::Capture);
  }
  ArenaView arena_;
  uint64_t captures_, handlers_;
};

}  // namespace dj
