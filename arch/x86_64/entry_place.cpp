// SPDX-License-Identifier: Apache-2.0
// Steps over what stands in front of a function's first instruction.
#include "arch/x86_64/entry_place.h"

#include <algorithm>
#include <array>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/text.h"

namespace dj::arch {
namespace {

constexpr std::array<uint8_t, 4> kSealed = {0x66, 0x0f, 0x1f, 0x00};
constexpr std::array<uint8_t, 5> kTracerNop = {0x0f, 0x1f, 0x44, 0x00, 0x00};

bool begins_with(std::span<const uint8_t> code, std::span<const uint8_t> with) {
  return code.size() >= with.size() && std::equal(with.begin(), with.end(), code.begin());
}

// Bytes of the endbr64 in front of all else, sealed or not.
uint64_t endbr64_bytes(std::span<const uint8_t> code, bool kernels) {
  const bool is_there = begins_with(code, kEndbr64) || (kernels && begins_with(code, kSealed));
  return is_there ? kEndbr64.size() : 0;
}

// Of the tracer, as it is switched off or on.
uint64_t tracer_bytes(std::span<const uint8_t> code) {
  constexpr uint8_t kCall = 0xe8;
  const bool is_on = code.size() >= kTracerNop.size() && code.front() == kCall;
  return is_on || begins_with(code, kTracerNop) ? kTracerNop.size() : 0;
}

}  // namespace

uint64_t entry_place(std::span<const uint8_t> code, uint64_t begin) {
  const bool kernels = is_kernels(begin);
  const uint64_t skipped = endbr64_bytes(code, kernels);
  return begin + skipped + (kernels ? tracer_bytes(code.subspan(skipped)) : 0);
}

bool has_tracer_place(std::span<const uint8_t> code, uint64_t begin) {
  return is_kernels(begin) && tracer_bytes(code.subspan(endbr64_bytes(code, true))) != 0;
}

uint64_t behind_nops(std::span<const uint8_t> code, uint64_t begin) {
  Insn insn;
  uint64_t at = begin;
  for (const uint64_t end = begin + code.size(); at < end; at = insn.end()) {
    if (!decode(code.subspan(at - begin), at, insn) || insn.kind != Kind::Nop) return at;
  }
  return begin;
}

}  // namespace dj::arch
