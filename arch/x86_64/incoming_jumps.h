// SPDX-License-Identifier: Apache-2.0
// incoming_jumps() finds the direct jumps of a module that lead to given instructions and that
// djtap can change in place to lead elsewhere.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/x86_64/placement.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

// IncomingJump is one such jump; its addresses are ELF addresses. `length` counts its own bytes and
// padding behind it that control never reaches. It is a jmp or jcc with 32 bits of displacement, or
// a jmp with 8 bits where padding follows.
struct IncomingJump {
  uint64_t address = 0;
  uint64_t target = 0;
  uint8_t length = 0;
};

// Returns the jumps that lead to one of `targets` (ELF addresses, ascending), by address. Takes one
// pass over the text, and the checks for each jump found.
std::vector<IncomingJump> incoming_jumps(const ModuleText& text,
                                         const std::vector<uint64_t>& targets);

// Returns the bytes that make the jump at `address`, whose bytes are `original`, lead to `target`;
// empty: `target` is too far. Both addresses are ELF addresses, or both are runtime addresses.
std::optional<JumpBytes> led_elsewhere(std::span<const uint8_t> original, uint64_t address,
                                       uint64_t target);

}  // namespace dj::arch
