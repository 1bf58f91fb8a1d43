// SPDX-License-Identifier: Apache-2.0
// read_unaligned() reads a number at any address, by aligned accesses. The program may have set the
// alignment check flag (AC) where the agent runs, so the agent makes no other ones; bytes that are
// put together by hand are one unaligned access to a compiler.
#pragma once
#include <stdint.h>

namespace dj::abi {

// The little-endian number at `from`; reads no word of 8 bytes that has none of its bytes.
template <typename Number>
inline Number read_unaligned(const void* from) {
#if __STDC_HOSTED__
  Number number;
  __builtin_memcpy(&number, from, sizeof number);
  return number;
#else
  constexpr uint64_t kWordBytes = 8, kBits = 8;
  const uint64_t at = reinterpret_cast<uint64_t>(from), inside = at % kWordBytes;
  const auto* words = reinterpret_cast<const uint64_t*>(at - inside);
  uint64_t value = words[0] >> kBits * inside;
  if (inside + sizeof(Number) > kWordBytes) value |= words[1] << kBits * (kWordBytes - inside);
  return static_cast<Number>(value);
#endif
}

}  // namespace dj::abi
