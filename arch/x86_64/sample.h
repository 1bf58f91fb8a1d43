// SPDX-License-Identifier: Apache-2.0
// Where a stopped thread is sent to run one handler at whatever instruction it stands, and then to
// go on.
#pragma once
#include "arch/x86_64/detour.h"

namespace dj::arch {

// Before, the thread's stack pointer is lowered by kSampleBytes, and its program counter written
// there.
constexpr uint32_t kSampleBytes = 128 + 8;  // the red zone, and a return address
constexpr uint32_t kSampleCodeMax = 256;

// As the detour of a site in the middle of a function, for the address `to`. When the handler is
// done, the word at `done` (below 2 GB) becomes 0; all registers and flags are what they were.
// Fails when the handler is farther than 2 GB.
Result<std::vector<uint8_t>> build_sample(const HandlerCall& call, uint64_t done, uint64_t to);

}  // namespace dj::arch
