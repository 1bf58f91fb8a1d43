// SPDX-License-Identifier: Apache-2.0
// Captures hold what return probes keep of a call until it returns: entry values, and the calls
// that another function will return for (tail calls). Their keys are thread, handler and return
// address slot. Only the thread of an entry writes it. What exceptions and longjmp leave behind is
// found by its slot, which then lies below the stack pointer or belongs to a later call. A bucket's
// entry is known by two words, and made in two steps; a thread's own (thread_table.h) by one, so
// that a signal comes either before it is the call's or behind that.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

constexpr uint32_t kCaptureWays = 8;
constexpr uint32_t kCaptureBuckets = 4096;

// Beside a slot's address, in buckets: the entry is to be filled for it, or was freed.
constexpr uint64_t kSlotUnused = 1;

// Where the call of a Capture is.
enum CaptureStage : uint32_t {
  kCalled,   // in the function
  kJumping,  // at its tail jump, not yet at the callee's first instruction
  kInTail,   // in code that returns for it and for others
};

struct Capture {
  uint64_t owner;    // 0 free; else tid << 32 | handler + 1, of a thread's own own_key()
  uint64_t slot;     // in buckets: address of the return address; with kSlotUnused see there
  uint64_t returns;  // the return address; of kCalled only while Captures::counting
  uint32_t stage;    // CaptureStage; of a free one kCalled
  uint32_t epoch;    // CaptureCount::epoch when it was made: of another one it counts for nothing
  uint32_t site;     // of kJumping and kInTail
  uint32_t more;     // calls that will return together with it; only where there are no values
  uint64_t values[kMaxCaptures];
};

// The one word of a thread's own entry. Exact below 2^47, which is all that Linux gives to who does
// not ask for more, and for the first kOwnHandlers handlers.
constexpr uint32_t kOwnHandlerBits = 17;
constexpr uint32_t kOwnHandlers = (1 << kOwnHandlerBits) - 1;
constexpr uint64_t own_key(uint32_t handler, uint64_t slot) {
  return slot << kOwnHandlerBits | (handler + 1);
}
constexpr uint32_t handler_of_own_key(uint64_t key) {
  return static_cast<uint32_t>(key & kOwnHandlers) - 1;
}
constexpr uint64_t slot_of_own_key(uint64_t key) { return key >> kOwnHandlerBits; }

// Why it is not known what became of a call.
enum Unseen : uint32_t {
  kUnseenTail,    // it has gone into code with unknown exits by a tail jump
  kUnseenNoRoom,  // it was not kept, and left by a tail jump, behind which only kept calls are
                  // known
  kUnseenOff,     // its handler was switched off meanwhile
  kUnseenKinds
};

// Of one handler. Each call that has entered is in one of the other numbers, or is kept.
struct CaptureCount {
  uint64_t epoch;      // raised by the controller whenever the handler is switched on
  uint64_t abandoned;  // calls that were left without a return; exact while Captures::counting
  uint64_t crowded;    // calls for which there was no room and that have not returned yet
  uint64_t unseen[kUnseenKinds];
  uint64_t entered, returned;  // while Captures::counting
  // Entries that wait for another function's return. Generated code asks nothing while it is 0.
  uint64_t in_tails;
};
// Constants.
struct Captures {
  uint64_t bucket_mask;
  ArenaRef<Capture> buckets;      // kCaptureWays each. Data
  ArenaRef<CaptureCount> counts;  // Data
  uint64_t handlers;              // how many CaptureCounts there are
  uint64_t counting;              // 1: calls are counted
};

// What the detour of an exit tells the handler beside the Plan site's number, in one 32-bit word.
constexpr uint32_t kExitOfCallee = 1u << 31;     // of a function that may return for others
constexpr uint32_t kExitOwn = 1u << 30;          // the function's own calls leave by a tail jump
constexpr uint32_t kExitKeepsValues = 1u << 29;  // its calls are captured at their entry
constexpr uint32_t kExitUnseen = 1u << 28;       // a tail jump whose callee's exits are not known
// No exit but the entry of a function whose exits are shared with others: its calls wait for one of
// these from here on.
constexpr uint32_t kExitAtEntry = 1u << 27;
constexpr uint32_t kExitSite = kExitAtEntry - 1;

constexpr uint64_t capture_counts_bytes(uint64_t handlers) {
  return (sizeof(CaptureCount) * handlers + 63) / 64 * 64;
}
// Of the data.
constexpr uint64_t captures_bytes(uint64_t handlers) {
  return capture_counts_bytes(handlers) + sizeof(Capture) * kCaptureWays * kCaptureBuckets;
}
// `data`: offset of zero memory of captures_bytes(handlers).
inline void captures_init(Captures* captures, uint64_t data, uint64_t handlers) {
  captures->bucket_mask = kCaptureBuckets - 1;
  captures->handlers = handlers;
  captures->counts = {static_cast<uint32_t>(data)};
  captures->buckets = {static_cast<uint32_t>(data + capture_counts_bytes(handlers))};
}
// handler: perhaps from the data; of one that there is not, the first's.
inline CaptureCount* capture_count(Arena arena, const Captures* captures, uint32_t handler) {
  return captures->counts.get(arena) + (handler < captures->handlers ? handler : 0);
}

}  // namespace dj::abi
