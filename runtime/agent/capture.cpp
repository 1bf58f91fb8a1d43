// Calls of return probes: kept at a function's entry or tail jump, taken where the call returns, by
// the same thread. What handlers inline of it is in capture_first.cpp.
#include "runtime/agent/capture_place.h"
#include "runtime/agent/frame.h"

using namespace dj;
using agent::Place;

namespace {

abi::CaptureCount& count_of(uint32_t handler) {
  return *abi::capture_count(agent::captures(), handler);
}

// What is counted only when it is asked for: every call writes to one cache line then.
void count(uint64_t* counter) {
  if (agent::captures()->counting != 0) abi::add(counter, 1);
}

void free_entry(abi::Capture& entry) {
  if (entry.stage != abi::kCalled) {
    abi::add(&count_of(static_cast<uint32_t>(entry.owner) - 1).in_tails, ~uint64_t{0});
  }
  abi::store(&entry.slot, entry.slot | abi::kSlotUnused);
  abi::store(&entry.owner, uint64_t{0});
}

// Nobody will return from its calls any more.
void abandon(const abi::Capture& entry, uint64_t owner) {
  abi::add(&count_of(static_cast<uint32_t>(owner) - 1).abandoned, entry.calls);
}

// An entry that its thread was about to fill for this very slot: a signal's siglongjmp came in
// between, and now another call has the slot.
bool is_half_made(const Place& place, const abi::Capture& entry) {
  return abi::load(&entry.slot) == (place.slot | abi::kSlotUnused);
}

// An entry of the bucket for this thread, or null. It is not found before it is filled.
abi::Capture* claim(const Place& place) {
  for (abi::Capture& entry : place.bucket->ways) {
    if (abi::load(&entry.owner) == 0 && abi::cas(&entry.owner, 0, place.owner)) {
      abi::store(&entry.slot, place.slot | abi::kSlotUnused);
      return &entry;
    }
  }
  uint64_t stack = agent::stack_pointer();
  for (abi::Capture& entry : place.bucket->ways) {
    uint64_t seen = abi::load(&entry.owner);
    auto other = static_cast<uint32_t>(seen >> 32);
    bool stale = other == place.tid ? is_half_made(place, entry) ||
                                          agent::frame_is_gone(abi::load(&entry.slot), stack)
                                    : agent::thread_is_gone(other);
    if (stale && abi::cas(&entry.owner, seen, place.owner)) {
      const bool filled = (entry.slot & abi::kSlotUnused) == 0;
      if (filled) abandon(entry, seen);
      if (filled && entry.stage != abi::kCalled) {
        abi::add(&count_of(static_cast<uint32_t>(seen) - 1).in_tails, ~uint64_t{0});
      }
      abi::store(&entry.slot, place.slot | abi::kSlotUnused);
      return &entry;
    }
  }
  return nullptr;
}

// An entry of an earlier epoch is made free: nobody saw what became of its call.
bool freed_if_old(const Place& place, abi::Capture& entry) {
  if (entry.epoch == place.epoch) return false;
  count(&count_of(place.handler).lost);
  free_entry(entry);
  return true;
}

// The call that is in `stage`.
abi::Capture* find(const Place& place, uint32_t stage) {
  for (abi::Capture& entry : place.bucket->ways) {
    if (place.has(entry) && entry.stage == stage && !freed_if_old(place, entry)) return &entry;
  }
  return nullptr;
}

uint64_t return_address(uint64_t slot) { return *reinterpret_cast<const uint64_t*>(slot); }

// Its return will be another function's: it jumps there, or is there already.
void jump(const Place& place, abi::Capture& entry, abi::CaptureStage stage) {
  if (entry.stage == abi::kCalled) abi::add(&count_of(place.handler).in_tails, 1);
  entry.stage = stage;
  entry.returns = return_address(place.slot);
}

void lose(const Place& place, abi::Capture& entry) {
  abi::add(&count_of(place.handler).lost, entry.calls);
  free_entry(entry);
}

}  // namespace

DJ_RARE void dj_capture_keep(uint32_t handler, uint64_t slot, const uint64_t* values,
                             uint32_t words) {
  Place place(handler, slot);
  count(&count_of(handler).entered);
  abi::Capture* entry = find(place, abi::kCalled);
  if (entry != nullptr) {
    // The same frame address again: what stood there was left by a frame that never returned.
    abandon(*entry, place.owner);
  } else {
    entry = claim(place);
  }
  if (entry == nullptr) {
    agent::count_skip(abi::kSkipReturnFull);
    return;
  }
  agent::copy_values(entry->values, values, words);
  agent::fill(place, *entry, abi::kCalled);
}

DJ_RARE uint32_t dj_capture_find(uint32_t handler, uint64_t slot, uint64_t* values,
                                 uint32_t words) {
  Place place(handler, slot);
  abi::Capture* entry = find(place, abi::kCalled);
  if (entry == nullptr) {
    agent::count_skip(abi::kSkipReturnMiss);
    return 0;
  }
  agent::copy_values(values, entry->values, words);
  free_entry(*entry);
  count(&count_of(handler).returned);
  return 1;
}

void dj_tail_leave(uint32_t handler, uint32_t exit, uint64_t slot) {
  Place place(handler, slot);
  bool own = (exit & abi::kExitOwn) != 0, of_callee = (exit & abi::kExitOfCallee) != 0;
  bool unseen = (exit & abi::kExitUnseen) != 0, known = false;
  abi::CaptureStage stage = (exit & abi::kExitAtEntry) != 0 ? abi::kInTail : abi::kJumping;
  uint32_t site = exit & abi::kExitSite;
  abi::Capture* together = nullptr;
  for (abi::Capture& entry : place.bucket->ways) {
    if (!place.has(entry) || freed_if_old(place, entry)) continue;
    bool called = entry.stage == abi::kCalled;
    if (called == own) {
      known = known || called;
      if (called) entry.site = site;
      jump(place, entry, stage);
      if (unseen) lose(place, entry);
    } else if (!called && !of_callee) {  // nobody jumped here: a new call has the slot
      abandon(entry, place.owner);
      free_entry(entry);
    } else if (!called && entry.site == site) {
      together = &entry;
    }
  }
  if (!own || known) return;
  if ((exit & abi::kExitKeepsValues) != 0) {
    agent::count_skip(abi::kSkipReturnMiss);
  } else if (unseen) {
    abi::add(&count_of(handler).lost, 1);
  } else if (together != nullptr) {
    together->calls++;
  } else if (abi::Capture* entry = claim(place)) {
    entry->site = site;
    agent::fill(place, *entry, abi::kCalled);
    jump(place, *entry, stage);
  } else {
    agent::count_skip(abi::kSkipReturnFull);
  }
}

void dj_tail_land(uint32_t handler, uint64_t slot) {
  Place place(handler, slot);
  for (abi::Capture& entry : place.bucket->ways) {
    if (!place.has(entry) || freed_if_old(place, entry)) continue;
    if (entry.stage == abi::kJumping) {
      entry.stage = abi::kInTail;
    } else {  // a new call has the slot
      abandon(entry, place.owner);
      free_entry(entry);
    }
  }
}

uint32_t dj_tail_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  Place place(handler, slot);
  for (abi::Capture& entry : place.bucket->ways) {
    if (!place.has(entry) || entry.stage == abi::kCalled || freed_if_old(place, entry)) continue;
    if (entry.returns != return_address(slot)) {
      abandon(entry, place.owner);
      free_entry(entry);
      continue;
    }
    uint32_t site = entry.site;
    agent::copy_values(values, entry.values, words);
    count(&count_of(handler).returned);
    if (--entry.calls == 0) free_entry(entry);
    return site + 1;
  }
  return 0;
}
