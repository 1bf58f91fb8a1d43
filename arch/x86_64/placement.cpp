// SPDX-License-Identifier: Apache-2.0
// Enumerating the forms of a jump, and the bytes of each.
#include "arch/x86_64/placement.h"

#include <bit>
#include <cstring>

#include "arch/x86_64/checker.h"
#include "compiler/base/result.h"

namespace dj::arch {
namespace {

constexpr uint8_t kCsOverride = 0x2e;   // ignored before a direct jump
constexpr uint64_t kDetourRoom = 4096;  // left free on both sides of a module
constexpr uint64_t kReach = uint64_t(1) << 31;

uint32_t bits_below(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// The DCR of `length` bytes with `prefix` prefixes: guards as int3, and what lies behind it as is.
Placement form(const Region& region, uint32_t prefix, uint32_t length) {
  const uint32_t window = kJumpBytes + prefix;
  // With a probe address nobody may pass by the handlers, so the whole DCR is guarded, not only the
  // jump.
  const uint32_t guarded = region.probe_address != 0 ? length : std::min(length, window);
  Placement p;
  p.length = uint8_t(length);
  p.prefix = uint8_t(prefix);
  p.guards = region.guards & bits_below(guarded);
  p.jump = region.address + prefix;
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t at = prefix + 1 + i;
    const bool guard = p.guards >> at & 1, behind = at >= length;
    if (!guard && !behind) continue;
    p.mask |= 0xffu << 8 * i;
    const bool shared = region.overlap != 0 && at >= region.overlap;
    const uint8_t kept = shared ? region.shared[at] : region.original[at];
    p.value |= uint32_t(guard ? 0xcc : kept) << 8 * i;
  }
  p.tactic = length < window ? Tactic::Punned : p.guards != 0 ? Tactic::Guarded : Tactic::Plain;
  return p;
}

// The end of the shortest DCR of whole instructions with at least `bytes`; 0: there is none.
uint32_t whole(const Region& region, uint32_t bytes) {
  for (uint32_t i = bytes; i < region.stretch; i++) {
    if (i < 32 && region.boundaries >> i & 1) return i;
  }
  return region.stretch >= bytes ? region.stretch : 0;
}

// Prefixes and opcode must lie inside the first instruction, and the jump in the free room.
bool fits(const Region& region, uint32_t prefix) {
  if (kJumpBytes + prefix > region.changeable) return false;
  if (region.overlap != 0) return prefix == region.prefixes;
  const bool inside =
      prefix < region.first || region.fixed_bytes.set;  // those forms have no guards
  return prefix <= kPrefixesMax && inside && kJumpBytes + prefix <= region.room;
}

// Those forms that have the bytes that another jump relies on, whatever happens to their own
// guards.
std::vector<Placement> pinned(const Region::Pins& fixed_bytes, std::vector<Placement> forms) {
  std::erase_if(forms, [&](const Placement& p) {
    return p.prefix != fixed_bytes.prefix || p.guards != 0 ||
           ((p.value ^ fixed_bytes.value) & p.mask & fixed_bytes.mask) != 0;
  });
  for (Placement& p : forms) {
    p.mask |= fixed_bytes.mask;
    p.value |= fixed_bytes.value;
  }
  return forms;
}

std::vector<Placement> all_forms(const Region& region) {
  std::vector<Placement> forms;
  if (region.length >= kJumpBytes) forms.push_back(form(region, 0, region.length));
  if (!forms.empty() && forms[0].mask == 0 && region.fixed_bytes.prefix == 0) return forms;
  const bool has_probe_address = region.probe_address > region.address;
  for (uint32_t prefix = 1; region.overlap == 0 && fits(region, prefix); prefix++) {
    const uint32_t length = whole(region, kJumpBytes + prefix);
    if (length != 0 && length <= region.room && !has_probe_address)
      forms.push_back(form(region, prefix, length));
  }
  if (has_probe_address) return forms;
  for (uint32_t prefix = region.prefixes; fits(region, prefix); prefix++) {
    // The e9 is displaced too: from a DCR that ends before it the detour would go on inside the
    // jump.
    const uint32_t shortest = std::max<uint32_t>(region.first, prefix + 1);
    for (uint32_t end = shortest; end < kJumpBytes + prefix && end <= region.stretch; end++) {
      if (end == region.stretch || (region.boundaries >> end & 1))
        forms.push_back(form(region, prefix, end));
    }
  }
  return forms;
}

}  // namespace

const char* tactic_name(Tactic tactic) {
  constexpr const char* kNames[] = {"plain", "guarded", "punned"};
  return kNames[size_t(tactic)];
}

bool is_plain(const Region& region) {
  if (region.verdict != Verdict::Ok || region.length < kJumpBytes || region.fixed_bytes.set)
    return false;
  return form(region, 0, region.length).tactic == Tactic::Plain;
}

std::vector<Placement> placements(const Region& region) {
  if (region.verdict != Verdict::Ok) return {};
  return region.fixed_bytes.set ? pinned(region.fixed_bytes, all_forms(region)) : all_forms(region);
}

JumpBytes jump_bytes(const Region& region, const Placement& placement, uint64_t detour) {
  const int64_t distance = int64_t(detour - (placement.jump + kJumpBytes));
  CHECK(distance == int32_t(distance));
  const uint32_t rel32 = uint32_t(distance);
  CHECK((rel32 & placement.mask) == placement.value);
  JumpBytes bytes;
  for (int i = 0; i < placement.prefix; i++)
    bytes.push_back(region.fixed_bytes.set ? region.fixed_bytes.prefix_byte : kCsOverride);
  bytes.push_back(0xe9);
  for (int i = 0; i < 4; i++) bytes.push_back(uint8_t(rel32 >> 8 * i));
  for (uint32_t at = uint32_t(bytes.size()); at < 32 && placement.guards >> at != 0; at++)
    bytes.push_back(placement.guards >> at & 1 ? 0xcc : region.original[at]);
  if (region.overlap != 0) bytes.resize(region.overlap);  // the rest is the next site's
  return bytes;
}

Space space_of(const ModuleText& text) {
  if (text.code_space) return *text.code_space;
  if (!text.position_independent)
    return {uint64_t(1) << 16, text.image_begin, text.image_end, uint64_t(1) << 47};
  return {text.image_begin - 2 * kReach, text.image_begin, text.image_end,
          text.image_end + 2 * kReach};
}

std::optional<uint64_t> reachable(const Placement& placement, const Space& space) {
  // Displacements as unsigned numbers from -2 GB on; `next` is what the lowest one leads to.
  const uint64_t next = placement.jump + kJumpBytes;
  const auto search = [&](uint64_t begin, uint64_t end) -> std::optional<uint64_t> {
    int64_t from = std::max(int64_t(begin - next), -int64_t(kReach));
    const int64_t to = std::min(int64_t(end - next), int64_t(kReach));
    while (from < to) {
      const uint32_t bits = uint32_t(from);
      const uint32_t wrong = (bits & placement.mask) ^ placement.value;
      if (wrong == 0) return next + uint64_t(from);
      const int top = 31 - std::countl_zero(wrong);
      const uint64_t low = (uint64_t(2) << top) - 1;
      uint64_t fixed = (uint64_t(bits) & ~low) | (placement.value & low);
      if ((placement.value >> top & 1) == 0) fixed += low + 1;
      from += int64_t(fixed - bits);
    }
    return std::nullopt;
  };
  if (const auto above = search(space.image_end + kDetourRoom, space.high)) return above;
  return search(space.low, space.image_begin - kDetourRoom);
}

std::optional<Placement> best(const Region& region, const Space& space) {
  if (is_plain(region)) {  // most are, and then there is no other
    const Placement plain = form(region, 0, region.length);
    return reachable(plain, space) ? std::optional(plain) : std::nullopt;
  }
  for (const Placement& placement : placements(region)) {
    if (reachable(placement, space)) return placement;
  }
  return std::nullopt;
}

}  // namespace dj::arch
