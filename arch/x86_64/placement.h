// SPDX-License-Identifier: Apache-2.0
// The forms that a checked region's jump can take, best first: which bytes are written, which
// instructions go into the detour, and which addresses the detour may have.
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
  uint8_t length = 0;  // DCR: this many original bytes at region.address go into the detour
  uint8_t prefix = 0;  // padding prefixes in front of the e9
  // Bit i: region.address + i is written 0xCC; a trap there goes on at Detour::copies of offset i.
  uint32_t guards = 0;
  uint64_t jump = 0;             // address of the e9
  uint32_t mask = 0, value = 0;  // (rel32 & mask) == value

  uint64_t target(int32_t rel32) const { return jump + 5 + uint64_t(int64_t(rel32)); }
};

// The region can be a jump of five free bytes: any address will do.
bool is_plain(const Region& region);
// Of a region whose verdict is Ok.
std::vector<Placement> placements(const Region& region);

// What is written over a region's first bytes.
using JumpBytes = ShortVector<uint8_t, 32>;
// For a detour at `detour` (which must fit the pattern).
JumpBytes jump_bytes(const Region& region, const Placement& placement, uint64_t detour);

// The space around a module at its ELF addresses; position-independent ones may be loaded anywhere.
Space space_of(const ModuleText& text);
// Some address that fits the pattern, the nearest below or above the module; empty: none.
std::optional<uint64_t> reachable(const Placement& placement, const Space& space);
// The first form that is reachable.
std::optional<Placement> best(const Region& region, const Space& space);

}  // namespace dj::arch
