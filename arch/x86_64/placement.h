// SPDX-License-Identifier: Apache-2.0
// placements() gives the forms that a checked region's jump can take, best first. A form says which
// bytes djtap writes, which instructions go into the detour, and which addresses the detour may
// have.
//
//   plain      e9 d0 d1 d2 d3                 any address within 2 GB
//   guarded    e9 d0 cc d2 d3                 instructions inside the window are int3
//   prefixed   2e e9 d0 d1 cc d3              a padding prefix moves the int3 to a cheaper byte
//   punned     e9 d0 | 48 89 e5               the bytes behind the DCR stay, read as displacement
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/x86_64/safety.h"
#include "compiler/base/short_vector.h"

namespace dj::arch {

enum class Tactic : uint8_t { Plain, Guarded, Punned };
const char* tactic_name(Tactic tactic);  // "plain", "guarded" ...

struct Placement {
  Tactic tactic = Tactic::Plain;
  uint8_t length = 0;  // of the DCR: bytes at region.address that go into the detour
  uint8_t prefix = 0;  // padding prefixes in front of the e9
  // Bit i: the byte at region.address + i becomes 0xCC; a trap there goes on at Detour::copies of
  // offset i.
  uint32_t guards = 0;
  uint64_t jump = 0;             // address of the e9
  uint32_t mask = 0, value = 0;  // (rel32 & mask) == value

  // Returns where the jump with this displacement leads.
  uint64_t target(int32_t rel32) const { return jump + 5 + uint64_t(int64_t(rel32)); }
};

// Whether the region can be a jump of five free bytes, whose detour may have any address.
bool is_plain(const Region& region);
// Takes a region whose verdict is Ok.
std::vector<Placement> placements(const Region& region);

// The bytes that djtap writes over a region's first bytes.
using JumpBytes = ShortVector<uint8_t, 32>;
// Returns those that lead to a detour at `detour`, an address that must fit the placement's
// pattern.
JumpBytes jump_bytes(const Region& region, const Placement& placement, uint64_t detour);

// Returns the space around a module at its ELF addresses. The loader may put a position-independent
// module anywhere.
Space space_of(const ModuleText& text);
// Returns an address that fits the pattern, the nearest below or above the module; empty: none
// fits.
std::optional<uint64_t> reachable(const Placement& placement, const Space& space);
// Returns the first form that is reachable().
std::optional<Placement> best(const Region& region, const Space& space);

}  // namespace dj::arch
