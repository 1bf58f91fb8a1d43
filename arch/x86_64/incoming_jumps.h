// SPDX-License-Identifier: Apache-2.0
// Direct jumps of a module that arrive at given instructions, as far as each can be made to lead
// elsewhere where it stands.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/x86_64/placement.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

// One of them; ELF addresses. Its first `length` bytes are its own and padding behind it, to which
// nobody goes: jmp and jcc with 32 bits of displacement, and jmp with 8 where padding follows.
struct IncomingJump {
  uint64_t address = 0;
  uint64_t target = 0;
  uint8_t length = 0;
};

// Those that arrive at one of `targets` (ELF addresses, ascending), by address. A pass over the
// text, and the checks for each that is found.
std::vector<IncomingJump> incoming_jumps(const ModuleText& text,
                                         const std::vector<uint64_t>& targets);

// The bytes that lead such a jump, which stands at `address` and has the bytes `original`, to
// `target`; nothing: that is too far. Both addresses ELF, or both runtime.
std::optional<JumpBytes> led_elsewhere(std::span<const uint8_t> original, uint64_t address,
                                       uint64_t target);

}  // namespace dj::arch
