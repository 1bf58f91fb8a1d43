// SPDX-License-Identifier: Apache-2.0
// Place is all calls of one handler that have their return address at one slot of one thread, and
// the Captures that may hold them: one of the thread's own, which takes no lock, and a bucket for
// all threads.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/cold_call.h"
#include "runtime/agent/thread.h"
#include "runtime/shared/capture.h"

#pragma GCC visibility push(hidden)
extern "C" {
// capture.cpp. What dj_capture_store, dj_capture_take and dj_syscall_take do, whatever stands in
// the bucket.
DJ_COLD_CALL void dj_capture_keep(uint32_t handler, uint64_t slot, const uint64_t* values,
                                  uint32_t words);
DJ_COLD_CALL uint32_t dj_capture_find(uint32_t handler, uint64_t slot, uint64_t* values,
                                      uint32_t words);
DJ_COLD_CALL uint32_t dj_syscall_find(uint32_t handler, uint64_t slot, uint64_t* values,
                                      uint32_t words);
}
#pragma GCC visibility pop

namespace dj::agent {

struct Bucket {
  abi::Capture ways[abi::kCaptureWays];
};

inline const abi::Captures* captures() { return arena()->captures.get(place()); }

inline uint32_t epoch_of(uint32_t handler) {
  return static_cast<uint32_t>(abi::load(&abi::capture_count(place(), captures(), handler)->epoch));
}
inline uint64_t owner_word(uint32_t tid, uint32_t handler) {
  return uint64_t{tid} << 32 | (handler + 1);
}

// The block where this thread's would be; null: one that must ask the kernel who it is has none.
inline abi::ThreadBlock* place_of_block() {
  abi::ThreadTable* table = thread_table();
  return table != nullptr ? &table->blocks[thread_index(fs_base())] : nullptr;
}
// This thread's block, or null.
inline abi::ThreadBlock* own_block() {
  abi::ThreadBlock* block = place_of_block();
  return block != nullptr && is_word_of(abi::load(&block->word), fs_base()) ? block : nullptr;
}
// The same by its number, which also finds what a thread has kept that looks like none now: rseq
// may say so for a while behind a clone() that has failed.
inline abi::ThreadBlock* block_of(uint32_t tid) {
  auto* table = dj_has_rseq ? abi::thread_table_of(arena()) : nullptr;
  if (table == nullptr) return nullptr;
  uint64_t fs = fs_base();
  abi::ThreadBlock* block = &table->blocks[thread_index(fs)];
  return abi::load(&block->word) == thread_word(fs, tid) ? block : nullptr;
}
// The one of the block's entries that the call may be in; null where there is none.
inline abi::Capture* own_entry(abi::ThreadBlock* block, uint32_t handler, uint64_t slot) {
  if (block == nullptr || handler >= abi::kOwnHandlers) return nullptr;
  uint64_t hash = (slot >> 3 ^ uint64_t{handler} << 32) * 0x9e3779b97f4a7c15ull;
  return &block->captures[hash >> (64 - abi::kThreadCaptureBits)];
}

struct Place {
  Place(uint32_t handler, uint64_t slot)
      : slot(slot),
        tid(thread_id()),
        handler(handler),
        owner(owner_word(tid, handler)),
        epoch(epoch_of(handler)),
        own(own_entry(block_of(tid), handler, slot)) {
    uint64_t hash = (owner ^ slot >> 3) * 0x9e3779b97f4a7c15ull;
    auto* buckets = reinterpret_cast<Bucket*>(captures()->buckets.get(agent::place()));
    bucket = buckets + (hash >> 32 & captures()->bucket_mask);
  }
  // What the owner word of the entry is while it holds the calls.
  uint64_t owner_in(const abi::Capture& entry) const {
    return &entry == own ? abi::own_key(handler, slot) : owner;
  }
  bool has(const abi::Capture& entry) const {
    return abi::load(&entry.owner) == owner_in(entry) &&
           (&entry == own || abi::load(&entry.slot) == slot);
  }
  // Where the calls may be: what stands in the thread's own entry is newer than what the bucket has
  // for the same slot.
  struct Entries {
    abi::Capture* list[abi::kCaptureWays + 1];
    uint32_t count = 0;
    abi::Capture* const* begin() const { return list; }
    abi::Capture* const* end() const { return list + count; }
  };
  Entries entries() const {
    Entries all;
    if (own != nullptr) all.list[all.count++] = own;
    for (abi::Capture& way : bucket->ways) all.list[all.count++] = &way;
    return all;
  }

  uint64_t slot;
  uint32_t tid, handler;
  uint64_t owner;
  uint32_t epoch;
  abi::Capture* own;  // null: the thread has no block
  Bucket* bucket;
};

inline void copy_values(uint64_t* to, const uint64_t* from, uint32_t count) {
  for (uint32_t i = 0; i < count && i < abi::kMaxCaptures; ++i) to[i] = from[i];
}

}  // namespace dj::agent
