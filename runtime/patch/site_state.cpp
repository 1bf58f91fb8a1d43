// SPDX-License-Identifier: Apache-2.0
// The table of legal steps, and the log of the steps taken.
#include "runtime/patch/site_state.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compiler/base/printable.h"
#include "runtime/patch/patch.h"
#include "runtime/process/os_error.h"

namespace dj {
namespace {

constexpr unsigned bit(SiteState state) { return 1u << static_cast<unsigned>(state); }

// From each state, in the order of the enum, the set of states that may follow.
constexpr unsigned kNext[] = {
    // Registered
    bit(SiteState::Int3) | bit(SiteState::Optimizing) | bit(SiteState::Skipped) |
        bit(SiteState::Gone),
    // Int3
    bit(SiteState::Optimizing) | bit(SiteState::Disarmed) | bit(SiteState::Gone),
    // Optimizing; the last two where a write fails
    bit(SiteState::Optimized) | bit(SiteState::Disarmed) | bit(SiteState::Gone),
    // Optimized
    bit(SiteState::Int3) | bit(SiteState::Disarmed) | bit(SiteState::Gone),
    // Disarmed
    bit(SiteState::Int3) | bit(SiteState::Optimizing) | bit(SiteState::Skipped) |
        bit(SiteState::Gone),
    // Skipped
    0,
    // Gone
    0,
};

constexpr const char* kNames[] = {"REGISTERED", "INT3",    "OPTIMIZING", "OPTIMIZED",
                                  "DISABLED",   "SKIPPED", "GONE"};

std::string lower(const char* name) {
  std::string text = name;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void log_step(const PatchSite& site, SiteState to, std::string_view reason) {
  static const uint64_t begin = now_ns();
  log_line("engine {:10.3f} ms {:#x} {} {} -> {}{}{}", static_cast<double>(now_ns() - begin) / 1e6,
           site.address, site.name.str(), lower(site_state_name(site.state)),
           lower(site_state_name(to)), reason.empty() ? "" : ": ", reason);
}

}  // namespace

bool is_engine_logged() {
  static const bool wanted = [] {
    const char* topics = getenv("DJTAP_LOG");
    return topics != nullptr && strstr(topics, "engine") != nullptr;
  }();
  return wanted;
}

const char* site_state_name(SiteState state) { return kNames[static_cast<size_t>(state)]; }

bool is_legal_step(SiteState from, SiteState to) {
  return (kNext[static_cast<size_t>(from)] & bit(to)) != 0;
}

void set_state(PatchSite& site, SiteState to, std::string_view reason) {
  CHECK(is_legal_step(site.state, to));
  if (is_engine_logged()) {
    log_step(site, to, reason);
  }
  site.state = to;
}

}  // namespace dj
