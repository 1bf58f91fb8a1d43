// SPDX-License-Identifier: Apache-2.0
// unrelocatable(), relocate_to(): tell whether an instruction can run at another address, for
// relocate() (detour.h) and the safety checks, and rewrite it for one.
#pragma once
#include "arch/x86_64/decode.h"
#include "arch/x86_64/encode.h"

namespace dj::arch {

// Returns nullptr if the instruction can run at any address within reach, else the reason why not.
const char* unrelocatable(const Insn& insn);
// Appends the instruction, rewritten for code.here(). bytes: at least insn.length bytes of it.
// Fails when it cannot run there.
Status relocate_to(Code& code, std::span<const uint8_t> bytes, const Insn& insn);
// The most bytes that a relocated instruction takes.
constexpr uint32_t kRelocatedMax = 48;

}  // namespace dj::arch
