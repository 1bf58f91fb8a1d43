// SPDX-License-Identifier: Apache-2.0
// What djtap writes there itself when a session ends.
#include "runtime/output/kept_calls.h"

namespace dj {

void KeptCalls::abandon(uint64_t index) const {
  const abi::Capture held = entry(index);
  const HandlerId handler = handler_of(held);
  if (!holds_calls(held) || handler >= handlers_) return;
  const abi::CaptureCount counts = count(handler);
  const bool old = held.epoch != static_cast<uint32_t>(counts.epoch);
  const uint64_t at = count_at(handler) + (old ? offsetof(abi::CaptureCount, unseen) +
                                                     abi::kUnseenOff * sizeof(uint64_t)
                                               : offsetof(abi::CaptureCount, abandoned));
  arena_.store<uint64_t>(at, arena_.word(at).number() + 1 + held.more);
  arena_.store<uint64_t>(entry_at(index) + offsetof(abi::Capture, owner), 0);
}

}  // namespace dj
