// SPDX-License-Identifier: Apache-2.0
// A whole short function in a detour: where its return comes soon behind the bytes that a jump
// displaces, the instructions up to it can go along, and nothing has to jump back.
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// Bytes of a function that is worth it, at most. From 40 on sqlite3 gained nothing more.
constexpr uint32_t kWholeMost = 48;
// What an instruction behind the displaced ones grows to, at most: a branch of two bytes takes six.
constexpr uint32_t kWholeGrowth = 3;

// bytes: the text from the function's entry, at `address`, on; a jump there displaces the first
// `displaced`. The function's bytes up to and with its return, where that comes behind the
// displaced ones and everything before it goes on or branches away; 0: it is no such function.
uint32_t whole_function(std::span<const uint8_t> bytes, uint64_t address, uint32_t displaced);

}  // namespace dj::arch
