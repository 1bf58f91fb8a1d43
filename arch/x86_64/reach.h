// SPDX-License-Identifier: Apache-2.0
// reached_bytes() and leads_to_an_end() tell how far code goes from its first instruction on, for
// code of assembly whose length no symbol gives.
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// Returns how many bytes of `code`, which stands at `begin`, lie up to the end of the last
// instruction that control reaches from the first one by steps and direct jumps. 0: unknown,
// because a jump goes to a computed place or control reaches too many.
uint64_t reached_bytes(std::span<const uint8_t> code, uint64_t begin);
// Whether instructions lead from the first byte of `code`, which stands at `address`, straight on
// to one behind which code does not go on (a return, a jump), and none of them looks like data:
// programs do not execute instructions for ports, or zeros. Returns false for code of more than 4
// kB.
bool leads_to_an_end(std::span<const uint8_t> code, uint64_t address);

}  // namespace dj::arch
