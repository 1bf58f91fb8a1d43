// SPDX-License-Identifier: Apache-2.0
// Reg and the tables below hold the registers of x86-64: DWARF numbers (System V ABI, figure 3.36)
// and names.
#pragma once
#include <cstdint>

namespace dj::arch {

enum Reg : uint8_t {
  kRax,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRegCount
};
constexpr const char* kRegNames[kRegCount] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                              "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                              "r12", "r13", "r14", "r15"};
// Vector registers follow behind the return address column.
constexpr int64_t kXmm0 = 17, kXmmCount = 16;
constexpr bool is_vector(int64_t reg) { return reg >= kXmm0 && reg < kXmm0 + kXmmCount; }
// The registers of the x87's stack; the first is its top.
constexpr int64_t kSt0 = 33, kStCount = 8;
constexpr bool is_x87(int64_t reg) { return reg >= kSt0 && reg < kSt0 + kStCount; }
// Masks of AVX-512.
constexpr int64_t kMask0 = 118, kMaskCount = 8;
constexpr bool is_mask(int64_t reg) { return reg >= kMask0 && reg < kMask0 + kMaskCount; }
// Flags, and the selectors of the segments.
constexpr int64_t kFlags = 49, kEs = 50, kCs = 51, kSs = 52, kDs = 53, kFs = 54, kGs = 55;
constexpr bool is_segment(int64_t reg) { return reg >= kEs && reg <= kGs; }
struct NamedReg {
  const char* name;
  int64_t reg;
};
constexpr NamedReg kOtherRegNames[] = {{"eflags", kFlags}, {"flags", kFlags}, {"cs", kCs},
                                       {"ds", kDs},        {"es", kEs},       {"ss", kSs},
                                       {"fs", kFs},        {"gs", kGs}};
// Whether a handler can read the register.
constexpr bool is_readable(int64_t reg) {
  return (reg >= 0 && reg < kRegCount) || is_vector(reg) || is_x87(reg) || is_mask(reg);
}
// Returns how many words of 8 bytes a handler can read of a register; of a vector register, AVX's
// 4.
constexpr uint64_t words_of(int64_t reg) { return is_vector(reg) ? 4 : is_x87(reg) ? 2 : 1; }
// Integer argument registers in order (System V ABI 3.2.3).
constexpr Reg kArgumentRegs[6] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
// The number that stands for reg in instruction encodings (ModRM, REX).
constexpr uint8_t kRegEncoding[kRegCount] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr uint8_t kSp = kRegEncoding[kRsp], kBp = kRegEncoding[kRbp];

}  // namespace dj::arch
