// SPDX-License-Identifier: Apache-2.0
// Switches turns handlers of Detours on and off, and says which sites need work on their text for
// it. The switch itself is a store into the slots of the handlers' calls (switch_slots.cpp). The
// original text may come back at a site whose handlers are all off, so that it costs nothing. The
// site is patched again when one of its handlers is switched on later.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>

#include "runtime/detours/detours.h"

namespace dj {

// TextWork: the sites whose text must change after switching.
struct TextWork {
  SiteList wake;     // out of the text, a handler is on: no hit counts until this is done
  SiteList rest;     // in the text, all handlers off for 300 ms: restore it soon
  bool live = true;  // one stopped thread is enough
  bool empty() const { return wake.empty() && rest.empty(); }
};

// Each function takes the Detours that the Switches were made for.
class Switches {
 public:
  Switches() = default;  // of no site
  explicit Switches(const Detours& detours);

  // Switches these handlers on or off. A handler is off as long as at least one bit of OffBy is set
  // for it. Threads run meanwhile: each that comes to a place from now on runs the handlers that
  // are on. `now_ns`: of the monotonic clock.
  void turn(Detours& detours, const std::set<HandlerAt>& handlers, bool on, OffBy by,
            uint64_t now_ns);
  // Returns the work that is due at `now_ns`.
  TextWork work(Detours& detours, uint64_t now_ns) const;
  // Looks which sites are out of the text now. Call it after a part of that work.
  void settle(const Detours& detours);

 private:
  template <typename Off>
  void switch_calls(Detours& detours, uint64_t now_ns, const Off& off);

  // Indexes in PatchPlan::sites: those without a handler that is on; those out of the text.
  std::set<size_t> idle_, resting_;
  std::set<uint64_t> overlapping_;  // addresses of sites that share bytes: they never rest
};

}  // namespace dj
