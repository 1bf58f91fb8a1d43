// SPDX-License-Identifier: Apache-2.0
// whole_function() tells whether a whole short function fits into a detour. If its return comes
// soon behind the bytes that a jump displaces, the detour takes the instructions up to the return
// along and needs no jump back.
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// The most bytes of a function that is worth it. Above 40 sqlite3 gained nothing more.
constexpr uint32_t kWholeMost = 48;
// The factor by which an instruction behind the displaced ones grows at most: a branch of two bytes
// takes six.
constexpr uint32_t kWholeGrowth = 3;

// Returns the bytes of the function up to and including its return. That holds if the return comes
// behind the first `displaced` bytes, which a jump at the entry displaces, and if every instruction
// before it goes on or branches away. 0: it is no such function. bytes: the text from the
// function's entry, which stands at `address`, on.
uint32_t whole_function(std::span<const uint8_t> bytes, uint64_t address, uint32_t displaced);

}  // namespace dj::arch
