// SPDX-License-Identifier: Apache-2.0
// build_sample() makes the code that a stopped thread runs to call one handler. The thread may
// stand at any instruction; the code then lets it go on there.
#pragma once
#include "arch/x86_64/detour.h"

namespace dj::arch {

// The caller first lowers the thread's stack pointer by kSampleBytes and writes its program counter
// there.
constexpr uint32_t kSampleBytes = 128 + 8;  // the red zone, and a return address
constexpr uint32_t kSampleCodeMax = 256;

// Returns the code for the address `to`; it works like the detour of a site in the middle of a
// function. When the handler is done, the code sets the word at `done` (an address below 2 GB) to 0
// and restores all registers and flags. Fails when the handler is farther than 2 GB.
Result<std::vector<uint8_t>> build_sample(const HandlerCall& call, uint64_t done, uint64_t to);

}  // namespace dj::arch
