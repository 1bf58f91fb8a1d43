// SPDX-License-Identifier: Apache-2.0
// ArmReport says in numbers what arming a target has come to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dj {

// InstallTimes: what arming took; times in nanoseconds.
struct InstallTimes {
  uint64_t prepare_ns = 0, link_ns = 0, detours_ns = 0;  // before arm()
  uint64_t move_ns = 0, patch_ns = 0;                    // of arm()
  uint64_t copied_pages = 0, copy_ns = 0;                // of text, before arm() and beside it
  uint64_t live_ns = 0;                                  // writing text while the program runs
  size_t rebound_calls = 0;                              // written later (call_rebinding.h),
  uint64_t rebinding_ns = 0;  // for which the target stood so long at a time, at most
};

// Says how long text was patched while the program ran: "; patched while it ran: 1.0 ms"; empty:
// none was.
std::string to_string(const InstallTimes& times);

// SiteMemory: what the places of a session take of the target's memory, in bytes, all places
// together. It leaves out the script's own data, and the texts that probefunc() and pp() give.
struct SiteMemory {
  size_t places = 0;     // patched, or once so
  uint64_t detours = 0;  // code, with the agent's system call hooks
  uint64_t stubs = 0;    // pages of five-byte jumps to detours
  uint64_t journal = 0;  // original and new bytes
  uint64_t tables = 0;   // SiteInfo of the plan's sites
  uint64_t traps = 0;    // look-up from an int3 to its detour

  uint64_t total() const { return detours + stubs + journal + tables + traps; }
};

// "118.2 bytes a place: detours 61.0, ..."; empty: there is no place.
std::string to_string(const SiteMemory& memory);

// Samples: how many samples of running threads were taken, and how many not: the thread was in
// djtap's code, at a signal, or where it must not be interrupted.
struct Samples {
  uint64_t taken = 0, left_out = 0;
  Samples& operator+=(const Samples& more) {
    taken += more.taken;
    left_out += more.left_out;
    return *this;
  }
};

struct ArmReport {
  size_t armed = 0;  // places of probed functions whose text is patched
  size_t sites = 0;  // entries of Target::sites()
  InstallTimes times;
  SiteMemory memory;
  uint64_t pause_ns = 0;  // how long the target stood still: all stops up to arm() together
  std::optional<Samples> samples;  // of timer.profile; empty: it takes none
};

}  // namespace dj
