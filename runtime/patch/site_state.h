// SPDX-License-Identifier: Apache-2.0
// SiteState and set_state() are the life of a site as one state machine: they say which states
// there are, and which steps between them are possible. With DJTAP_LOG=engine set_state() writes
// one line on stderr for every step.
//
//   registered --> int3 ---> optimizing --> optimized        gone: the module was unmapped
//        |          |  ^                     |  |            skipped: refused before anything
//        |          |  +---------------------+  |                     was written, or later
//        |          +--------> disabled <-------+
//        +------------------> optimizing
#pragma once
#include <cstdint>
#include <string_view>

namespace dj {

enum class SiteState : uint8_t {
  Registered,  // known, nothing written yet
  Int3,        // the text has a breakpoint
  Optimizing,  // the bytes of a jump are being written
  Optimized,   // the text has the jump
  Disarmed,    // the text is the original again
  Skipped,     // refused; the reason says why
  Gone,        // its module is not mapped any more: nothing is written there
};
const char* site_state_name(SiteState state);  // "OPTIMIZED" ... as --probes prints it

// Whether `from` -> `to` is a step of the life cycle.
bool is_legal_step(SiteState from, SiteState to);

struct PatchSite;
// Changes a site's state; no other function does. The step must be legal. `reason`: why, for the
// log.
void set_state(PatchSite& site, SiteState to, std::string_view reason = "");
// Whether DJTAP_LOG=engine is set: set_state() then writes every step, so sites need their names.
bool is_engine_logged();

}  // namespace dj
