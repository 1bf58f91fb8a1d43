// Captures: entry values of return probes, on their way from a function's entry to its exit. Keyed
// by thread, return address slot and probe. An entry is written only by the thread it belongs to;
// what exceptions and longjmp leave behind is found by its slot, which then lies below the stack
// pointer.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

constexpr uint32_t kCaptureWays = 8;
constexpr uint32_t kCaptureBuckets = 4096;

struct Capture {
  uint64_t owner;  // 0 free; else tid << 32 | probe + 1
  uint64_t slot;   // address of the return address
  uint64_t values[kMaxCaptures];
};
struct Captures {
  uint64_t bucket_mask;
  uint64_t pad[7];
  // Capture[kCaptureWays] per bucket follow
};
constexpr uint64_t captures_bytes() {
  return sizeof(Captures) + sizeof(Capture) * kCaptureWays * kCaptureBuckets;
}
inline void captures_init(Captures* captures) { captures->bucket_mask = kCaptureBuckets - 1; }

}  // namespace dj::abi
