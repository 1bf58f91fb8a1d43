// SPDX-License-Identifier: Apache-2.0
// What the places of a session take of the target's memory: bytes, all places together. Without the
// script's own data, and without the texts that probefunc() and pp() give.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace dj {

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

}  // namespace dj
