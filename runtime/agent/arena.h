// SPDX-License-Identifier: Apache-2.0
// arena() is the one way from agent code to its data; current_row() says which row of a per-CPU
// table this thread takes.
#pragma once
#include "runtime/agent/rseq.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/arena_ref.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/entries.h"

namespace dj::agent {

inline const abi::Header* arena() { return reinterpret_cast<const abi::Header*>(dj_arena_base); }
// Where this process has it.
inline abi::Arena place() { return {dj_arena_base, arena()->arena_bytes}; }
inline abi::SessionWords& words() { return *abi::session_words(arena()); }

// The word of a counter in one of its rows.
inline int64_t* counter_word(uint32_t counter, uint32_t row) {
  const uint64_t first = arena()->counters.address(place());
  return reinterpret_cast<int64_t*>(first + (uint64_t{row} << arena()->counter_shift) +
                                    8ull * counter);
}

inline abi::Context* context_at(uint32_t index) {
  return reinterpret_cast<abi::Context*>(arena()->contexts.address(place()) +
                                         uint64_t{index} * arena()->context_bytes);
}

inline void count_skip(abi::Skip reason) { abi::add(&words().skipped[reason], 1); }

// Row of the CPU this thread ran on a moment ago, or the last row when it has no registered rseq
// area. Only a hint: what is done to the row must be atomic.
inline uint32_t current_row() {
  uint32_t last = arena()->cpus;
  if (!dj_has_rseq) return last;
  uint32_t cpu = rseq_cpu();  // -1 and -2 are large
  return cpu < last ? cpu : last;
}

}  // namespace dj::agent
