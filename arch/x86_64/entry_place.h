// SPDX-License-Identifier: Apache-2.0
// entry_place() tells where the entry probe of a function goes, behind_nops() where code begins
// that nops align.
#pragma once
#include <cstdint>
#include <span>

namespace dj::arch {

// Returns the address of the first instruction of the function at `begin` that a probe may stand
// on; `code` are its bytes, as many as are known. endbr64 stays at its address. A kernel's function
// also keeps an endbr64 that the kernel has sealed (66 0f 1f 00), and the tracer's place: the nop
// that the kernel's tracer (ftrace) turns into a call and back. A jump there would be overwritten.
uint64_t entry_place(std::span<const uint8_t> code, uint64_t begin);

// Whether a kernel's function begins with the tracer's place. What has none may not be probed
// mostly: the kernel's own probes run such code, or its exceptions do.
bool has_tracer_place(std::span<const uint8_t> code, uint64_t begin);

// Returns the address of the first instruction of `code`, which stands at `begin`, that is no nop.
// Nops up to its end: `begin`.
uint64_t behind_nops(std::span<const uint8_t> code, uint64_t begin);

}  // namespace dj::arch
