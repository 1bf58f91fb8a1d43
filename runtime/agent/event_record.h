// SPDX-License-Identifier: Apache-2.0
// Record carries one event into the ring of this CPU. A full ring drops it and counts it.
#pragma once
#include "runtime/agent/arena.h"
#include "runtime/agent/task.h"
#include "runtime/shared/ring.h"

namespace dj::agent {

inline uint64_t cycles() {
  uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return uint64_t{high} << 32 | low;
}

class Record {
 public:
  // Room for `bytes` of payload. False: dropped.
  bool open(uint64_t bytes, abi::EventKind kind, uint32_t site) {
    const abi::Header* header = arena();
    abi::Ring* ring = abi::ring_of_row(header, place(), current_row());
    uint64_t size = (sizeof(abi::EventHeader) + bytes + abi::kEventAlign - 1) / abi::kEventAlign *
                    abi::kEventAlign;
    head_ =
        size > header->ring_bytes / 2
            ? nullptr
            : abi::ring_reserve(ring, header->ring_bytes, static_cast<uint32_t>(size), &position_);
    if (head_ == nullptr) {
      count_skip(abi::kSkipRingFull);
      return false;
    }
    head_->tsc = cycles();  // in the ring it is seen already: whatever waits for it keeps its order
    head_->size = size_ = static_cast<uint32_t>(size);
    head_->kind = kind;
    head_->count = 0;
    head_->format = 0;
    head_->site = site;
    return true;
  }
  // The same with room for a Sender at the end.
  bool open_sent(uint64_t bytes, abi::EventKind kind, uint32_t site) {
    if (!open(bytes + sizeof(abi::Sender), kind, site)) return false;
    const abi::Task* task = told_task();
    const uint32_t pid = task != nullptr ? static_cast<uint32_t>(task->pid) : process_id();
    const uint32_t tid = task != nullptr ? dj_told_thread_id() : thread_id();
    size_ -= sizeof(abi::Sender);
    *reinterpret_cast<abi::Sender*>(reinterpret_cast<char*>(head_) + size_) = {
        static_cast<int32_t>(pid), static_cast<int32_t>(tid)};
    return true;
  }
  abi::EventHeader& head() { return *head_; }
  uint32_t size() const { return size_; }  // without the Sender
  char* payload() { return reinterpret_cast<char*>(head_ + 1); }
  void commit() { abi::ring_commit(head_, position_); }

 private:
  abi::EventHeader* head_ = nullptr;
  uint64_t position_ = 0;
  uint32_t size_ = 0;
};

}  // namespace dj::agent
