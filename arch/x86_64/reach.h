// SPDX-License-Identifier: Apache-2.0
// How far code goes from its first instruction on, where no symbol says it: the code of assembly.
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// How many of the bytes, which stand at `begin`, lie up to the end of the last instruction that the
// steps and direct jumps from the first one reach. 0: unknown, as a jump goes to a computed place,
// or they are too many.
uint64_t reached_bytes(std::span<const uint8_t> code, uint64_t begin);
// Whether instructions lead from the first byte, which stands at `address`, straight on to one
// behind which code does not go on (a return, a jump), and none of them looks like data: no program
// executes instructions for ports, and zeros. Of more than 4 kB, false.
bool leads_to_an_end(std::span<const uint8_t> code, uint64_t address);

}  // namespace dj::arch
