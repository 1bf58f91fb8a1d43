// SPDX-License-Identifier: Apache-2.0
// What relocate() (detour.h) shares with the safety checks: can this instruction run elsewhere?
#pragma once
#include "arch/x86_64/decode.h"
#include "arch/x86_64/encode.h"

namespace dj::arch {

// nullptr: it can, wherever the distance allows; else the reason why not.
const char* unrelocatable(const Insn& insn);
// Appends the instruction, rewritten for code.here(). bytes: at least insn.length of them.
Status relocate_to(Code& code, std::span<const uint8_t> bytes, const Insn& insn);
// No instruction grows beyond this.
constexpr uint32_t kRelocatedMax = 48;

}  // namespace dj::arch
