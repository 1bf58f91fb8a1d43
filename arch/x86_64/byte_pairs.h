// SPDX-License-Identifier: Apache-2.0
// each_pair(), find_pairs(): find the places where two given bytes stand side by side, sixteen
// places at a time. A program's text is tens of megabytes, and every session searches it for
// `syscall`s.
#pragma once
#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace dj::arch {

// BytePair matches the byte `first` followed by a byte that equals `second` in the bits of `mask`.
struct BytePair {
  uint8_t first, second, mask = 0xff;
};
constexpr BytePair kSyscallBytes = {0x0f, 0x05};
constexpr BytePair kJumpIndirect = {0xff, 0x20, 0x38};  // jmp by register or memory

// Calls action(offset) where one of the pairs stands in `bytes`, ascending.
template <size_t kPairs, typename Action>
void each_pair(std::span<const uint8_t> bytes, const BytePair (&pairs)[kPairs],
               const Action& action) {
  constexpr size_t kAtOnce = sizeof(__m128i);
  const auto load = [&](size_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&bytes[at]));
  };
  __m128i first[kPairs], second[kPairs], mask[kPairs];
  for (size_t i = 0; i < kPairs; i++) {
    first[i] = _mm_set1_epi8(char(pairs[i].first));
    second[i] = _mm_set1_epi8(char(pairs[i].second));
    mask[i] = _mm_set1_epi8(char(pairs[i].mask));
  }
  const auto look = [&](size_t at) {
    const __m128i here = load(at), behind = load(at + 1);
    __m128i any = _mm_setzero_si128();
    for (size_t i = 0; i < kPairs; i++) {
      const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(here, first[i]),
                                         _mm_cmpeq_epi8(_mm_and_si128(behind, mask[i]), second[i]));
      any = _mm_or_si128(any, both);
    }
    return unsigned(_mm_movemask_epi8(any));
  };
  const auto take = [&](size_t at, unsigned bits) {
    for (; bits != 0; bits &= bits - 1) action(at + size_t(std::countr_zero(bits)));
  };
  size_t at = 0;
  for (; at + kAtOnce < bytes.size(); at += kAtOnce) {
    if (const unsigned bits = look(at); bits != 0) take(at, bits);
  }
  if (at + 1 >= bytes.size()) return;
  if (bytes.size() > kAtOnce) {  // the last places, without those that were looked at
    const size_t last = bytes.size() - 1 - kAtOnce;
    return take(last, look(last) >> (at - last) << (at - last));
  }
  for (; at + 1 < bytes.size(); at++) {
    const auto stands = [&](const BytePair& pair) {
      return bytes[at] == pair.first && (bytes[at + 1] & pair.mask) == pair.second;
    };
    if (std::any_of(std::begin(pairs), std::end(pairs), stands)) action(at);
  }
}

// Returns the offsets at which `pair` stands in `bytes`, ascending.
inline std::vector<size_t> find_pairs(std::span<const uint8_t> bytes, BytePair pair) {
  std::vector<size_t> found;
  each_pair(bytes, {pair}, [&](size_t at) { found.push_back(at); });
  return found;
}

}  // namespace dj::arch
