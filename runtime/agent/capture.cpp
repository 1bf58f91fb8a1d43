// SPDX-License-Identifier: Apache-2.0
// Calls of return probes: kept at a function's entry or tail jump, taken where the call returns, by
// the same thread. What handlers inline of it is in capture_first.cpp.
#include "runtime/agent/capture_place.h"
#include "runtime/agent/frame.h"

using namespace dj;
using agent::Place;

namespace {

abi::CaptureCount& count_of(uint32_t handler) {
  return *abi::capture_count(agent::place(), agent::captures(), handler);
}

// What is counted only when it is asked for: every call writes to one cache line then.
void count(uint64_t* counter) {
  if (agent::captures()->counting != 0) abi::add(counter, 1);
}

// Its calls, of this handler, are over: as in a free entry.
void clear(abi::Capture& entry, uint32_t handler) {
  if (entry.stage != abi::kCalled) abi::add(&count_of(handler).in_tails, ~uint64_t{0});
  entry.stage = abi::kCalled;
  entry.more = 0;
}

void free_entry(const Place& place, abi::Capture& entry) {
  abi::store(&entry.slot, entry.slot | abi::kSlotUnused);
  clear(entry, place.handler);
  abi::store(&entry.owner, uint64_t{0});
}

// Nobody will return from its calls any more; of those of an earlier epoch, nobody knows.
void abandon(const abi::Capture& entry, uint32_t handler) {
  abi::CaptureCount& of = count_of(handler);
  const bool old = entry.epoch != agent::epoch_of(handler);
  abi::add(old ? &of.unseen[abi::kUnseenOff] : &of.abandoned, 1 + entry.more);
}

// There is no room for the call.
void leave_out(uint32_t handler) { abi::add(&count_of(handler).crowded, 1); }

// A call that returns and is not kept: is it one for which there was no room? Which one of a
// handler's calls nobody can tell, only how many.
bool was_left_out(uint32_t handler) {
  uint64_t* crowded = &count_of(handler).crowded;
  for (uint64_t seen = abi::load(crowded); seen != 0; seen = abi::load(crowded)) {
    if (abi::cas(crowded, seen, seen - 1)) return true;
  }
  return false;
}

// A bucket's entry that its thread was about to fill for this very slot: a signal's siglongjmp came
// in between, and now another call has the slot.
bool is_half_made(const Place& place, const abi::Capture& entry) {
  return abi::load(&entry.slot) == (place.slot | abi::kSlotUnused);
}

// This thread gets the block that is its place, unless another one has it. Who has ended keeps it
// until its control block is used again (forget_thread): nobody asks the kernel, whose filter may
// not allow it.
bool take_block(uint32_t tid) {
  abi::ThreadBlock* block = agent::place_of_block();
  const uint64_t fs = block != nullptr ? agent::fs_base() : 1;
  if (fs % agent::kControlBlockAlign != 0) return false;
  return abi::load(&block->word) == 0 && abi::cas(&block->word, 0, agent::thread_word(fs, tid));
}

// Nobody will return for what `owner` has left in the entry. `stack`: where this thread's ends.
bool is_stale(const Place& place, const abi::Capture& entry, uint64_t owner, uint64_t stack) {
  if (&entry == place.own) return agent::frame_is_gone(abi::slot_of_own_key(owner), stack);
  auto tid = static_cast<uint32_t>(owner >> 32);
  if (tid != place.tid) return agent::thread_is_gone(tid);
  return is_half_made(place, entry) || agent::frame_is_gone(abi::load(&entry.slot), stack);
}

bool claim_free(const Place& place, abi::Capture& entry) {
  return abi::load(&entry.owner) == 0 && abi::cas(&entry.owner, 0, place.owner_in(entry));
}

bool claim_stale(const Place& place, abi::Capture& entry, uint64_t stack) {
  const uint64_t seen = abi::load(&entry.owner);
  if (!is_stale(place, entry, seen, stack)) return false;
  if (!abi::cas(&entry.owner, seen, place.owner_in(entry))) return false;
  const bool own = &entry == place.own;
  const uint32_t handler = own ? abi::handler_of_own_key(seen) : static_cast<uint32_t>(seen) - 1;
  if (own || (entry.slot & abi::kSlotUnused) == 0) abandon(entry, handler);
  clear(entry, handler);
  return true;
}

// The own entry is worth more than one of the bucket, but what is below the stack pointer may live:
// a coroutine's stack. So what seems stale is taken only where nothing is free. The controller
// reads buckets only: where calls are counted they are all there.
abi::Capture* claimed(const Place& place) {
  abi::Capture* own = agent::captures()->counting == 0 ? place.own : nullptr;
  if (own != nullptr && claim_free(place, *own)) return own;
  for (abi::Capture& way : place.bucket->ways) {
    if (claim_free(place, way)) return &way;
  }
  uint64_t stack = agent::stack_pointer();
  if (own != nullptr && claim_stale(place, *own, stack)) return own;
  for (abi::Capture& way : place.bucket->ways) {
    if (claim_stale(place, way, stack)) return &way;
  }
  return nullptr;
}

// An entry for this thread, or null. One of a bucket is not found before it is filled.
abi::Capture* claim(const Place& place) {
  abi::Capture* entry = claimed(place);
  if (entry != nullptr) abi::store(&entry->slot, place.slot | abi::kSlotUnused);
  return entry;
}

// An entry of an earlier epoch is made free: nobody saw what became of its call.
bool freed_if_old(const Place& place, abi::Capture& entry) {
  if (entry.epoch == place.epoch) return false;
  abandon(entry, place.handler);
  free_entry(place, entry);
  return true;
}

// The call that is in `stage`.
abi::Capture* find(const Place& place, uint32_t stage) {
  for (abi::Capture* entry : place.entries()) {
    if (place.has(*entry) && entry->stage == stage && !freed_if_old(place, *entry)) return entry;
  }
  return nullptr;
}

uint64_t return_address(uint64_t slot) { return *reinterpret_cast<const uint64_t*>(slot); }

// Of calls that leave by `exit`.
abi::CaptureStage stage_of(uint32_t exit) {
  return (exit & abi::kExitAtEntry) != 0 ? abi::kInTail : abi::kJumping;
}

// Its return will be another function's: it jumps there, or is there already.
void jump(const Place& place, abi::Capture& entry, abi::CaptureStage stage) {
  if (entry.stage == abi::kCalled) abi::add(&count_of(place.handler).in_tails, 1);
  entry.stage = stage;
  entry.returns = return_address(place.slot);
}

void lose(const Place& place, abi::Capture& entry) {
  abi::add(&count_of(place.handler).unseen[abi::kUnseenTail], 1 + entry.more);
  free_entry(place, entry);
}

// The slot is another call's by now.
void drop(const Place& place, abi::Capture& entry) {
  abandon(entry, place.handler);
  free_entry(place, entry);
}

// The entry, which is claimed or whose calls are gone, is for the call that comes in now.
void fill(const Place& place, abi::Capture& entry) {
  entry.epoch = place.epoch;
  abi::store(&entry.slot, place.slot);
}

// A call that nobody has kept leaves by a tail jump, and is kept from here on. `together`: the
// entry of calls that will return with it, or null.
void leave_unkept(const Place& place, uint32_t exit, abi::Capture* together) {
  const bool left_out = was_left_out(place.handler);
  abi::CaptureCount& of = count_of(place.handler);
  const uint32_t site = exit & abi::kExitSite;
  if ((exit & abi::kExitKeepsValues) != 0) {
    if (left_out) abi::add(&of.unseen[abi::kUnseenNoRoom], 1);
    if (!left_out) agent::count_skip(abi::kSkipReturnMiss);
  } else if ((exit & abi::kExitUnseen) != 0) {
    abi::add(&of.unseen[abi::kUnseenTail], 1);
  } else if (together != nullptr) {
    together->more++;
  } else if (abi::Capture* entry = claim(place)) {
    entry->site = site;
    fill(place, *entry);
    jump(place, *entry, stage_of(exit));
  } else {
    if (left_out) abi::add(&of.unseen[abi::kUnseenNoRoom], 1);
    agent::count_skip(abi::kSkipReturnFull);
  }
}

enum class Returned : uint8_t { Kept, LeftOut, Unknown };

// Takes out the call that returns, and fills `values` if the entry has kept it.
Returned take_returned(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  Place place(handler, slot);
  abi::Capture* entry = find(place, abi::kCalled);
  if (entry == nullptr && !was_left_out(handler)) return Returned::Unknown;
  count(&count_of(handler).returned);
  if (entry == nullptr) return Returned::LeftOut;
  agent::copy_values(values, entry->values, words);
  free_entry(place, *entry);
  return Returned::Kept;
}

}  // namespace

void agent::forget_calls(abi::ThreadBlock* block) {
  for (abi::Capture& entry : block->captures) {
    const uint64_t key = abi::load(&entry.owner);
    if (key == 0) continue;
    abandon(entry, abi::handler_of_own_key(key));
    clear(entry, abi::handler_of_own_key(key));
    abi::store(&entry.owner, uint64_t{0});
  }
}

DJ_COLD_CALL void dj_capture_keep(uint32_t handler, uint64_t slot, const uint64_t* values,
                                  uint32_t words) {
  Place place(handler, slot);
  if (place.own == nullptr && take_block(place.tid)) place = Place(handler, slot);
  count(&count_of(handler).entered);
  abi::Capture* entry = find(place, abi::kCalled);
  if (entry != nullptr) {
    // The same frame address again: what stood there was left by a frame that never returned.
    abandon(*entry, place.handler);
  } else {
    entry = claim(place);
  }
  if (entry == nullptr) {
    leave_out(handler);
    if (words != 0) agent::count_skip(abi::kSkipReturnFull);
    return;
  }
  agent::copy_values(entry->values, values, words);
  if (agent::captures()->counting != 0) entry->returns = return_address(slot);
  fill(place, *entry);
}

DJ_COLD_CALL uint32_t dj_capture_find(uint32_t handler, uint64_t slot, uint64_t* values,
                                      uint32_t words) {
  const Returned returned = take_returned(handler, slot, values, words);
  if (returned == Returned::Unknown && words != 0) agent::count_skip(abi::kSkipReturnMiss);
  return returned == Returned::Kept ? 1 : 0;
}

DJ_COLD_CALL uint32_t dj_syscall_find(uint32_t handler, uint64_t slot, uint64_t* values,
                                      uint32_t words) {
  return take_returned(handler, slot, values, words) == Returned::Kept ? 1 : 0;
}

void dj_tail_leave(uint32_t handler, uint32_t exit, uint64_t slot) {
  Place place(handler, slot);
  bool own = (exit & abi::kExitOwn) != 0, of_callee = (exit & abi::kExitOfCallee) != 0;
  bool unseen = (exit & abi::kExitUnseen) != 0, known = false;
  const abi::CaptureStage stage = stage_of(exit);
  uint32_t site = exit & abi::kExitSite;
  abi::Capture* together = nullptr;
  const bool keeps_values = (exit & abi::kExitKeepsValues) != 0;
  for (abi::Capture* at : place.entries()) {
    abi::Capture& entry = *at;
    if (!place.has(entry)) continue;
    bool called = entry.stage == abi::kCalled;
    if (called && own && !keeps_values) entry.epoch = place.epoch;  // an unkept call is kept, too
    if (freed_if_old(place, entry)) continue;
    const bool was_left = called && known;  // in the bucket, by a frame that never returned
    // Nobody jumped here: a new call has the slot.
    const bool is_of_former = own && !called && !of_callee;
    if (was_left || is_of_former) {
      drop(place, entry);
    } else if (called == own) {
      known = known || called;
      if (called) entry.site = site;
      jump(place, entry, stage);
      if (unseen) lose(place, entry);
    } else if (!called && entry.site == site) {
      together = &entry;
    }
  }
  if (own && !known) leave_unkept(place, exit, together);
}

void dj_tail_land(uint32_t handler, uint64_t slot) {
  Place place(handler, slot);
  for (abi::Capture* at : place.entries()) {
    abi::Capture& entry = *at;
    if (!place.has(entry) || freed_if_old(place, entry)) continue;
    if (entry.stage == abi::kJumping) {
      entry.stage = abi::kInTail;
    } else {
      drop(place, entry);
    }
  }
}

uint32_t dj_tail_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t words) {
  Place place(handler, slot);
  for (abi::Capture* at : place.entries()) {
    abi::Capture& entry = *at;
    if (!place.has(entry) || entry.stage == abi::kCalled || freed_if_old(place, entry)) continue;
    if (entry.returns != return_address(slot)) {
      drop(place, entry);
      continue;
    }
    const uint32_t site = abi::load(&entry.site);
    if (site >= agent::arena()->site_count) {  // no site of ours
      drop(place, entry);
      continue;
    }
    agent::copy_values(values, entry.values, words);
    count(&count_of(handler).returned);
    if (entry.more == 0) {
      free_entry(place, entry);
    } else {
      entry.more--;
    }
    return site + 1;
  }
  return 0;
}
