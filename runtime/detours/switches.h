// SPDX-License-Identifier: Apache-2.0
// Switches: turns handlers of Detours on and off, and says which sites need work on their text for
// it. The switch itself is a store into the slots of the handlers' calls (switch_slots.cpp). A site
// without a handler that is on may give its original text back, so that it costs nothing; it is
// written again when one of its handlers is switched on later.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>

#include "runtime/detours/detours.h"

namespace dj {

// TextWork: what switching leaves to be done to the text.
struct TextWork {
  SiteList wake;     // not in the text, but a handler is on: until it is done nothing is counted
  SiteList rest;     // in the text, but all handlers have been off for a while: as soon as may be
  bool live = true;  // one stopped thread is enough
  bool empty() const { return wake.empty() && rest.empty(); }
};

// Each function takes the Detours that the Switches were made for.
class Switches {
 public:
  Switches() = default;  // of no site
  explicit Switches(const Detours& detours);

  // Switches these handlers on or off; a handler is off as long as one of OffBy wants it so.
  // Threads run meanwhile: each that comes to a place from now on runs the handlers that are on.
  // `now_ns`: of the monotonic clock.
  void turn(Detours& detours, const std::set<HandlerAt>& handlers, bool on, OffBy by,
            uint64_t now_ns);
  // The work that is due at `now_ns`.
  TextWork work(Detours& detours, uint64_t now_ns) const;
  // Call it behind a part of that work: looks which sites are out of the text now.
  void settle(const Detours& detours);

 private:
  template <typename Off>
  void switch_calls(Detours& detours, uint64_t now_ns, const Off& off);

  // Indexes in PatchPlan::sites: those without a handler that is on; those out of the text.
  std::set<size_t> idle_, resting_;
  std::set<uint64_t> overlapping_;  // addresses of sites that share bytes: they never rest
};

}  // namespace dj
