// find_pairs(): where two bytes stand side by side, sixteen places at a time: a program's text is
// tens of megabytes, and every session looks for the `syscall`s in it.
#pragma once
#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dj::arch {

// `first`, then a byte whose bits of `mask` are those of `second`.
struct BytePair {
  uint8_t first, second, mask = 0xff;
};
constexpr BytePair kSyscallBytes = {0x0f, 0x05};
constexpr BytePair kJumpByRegister = {0xff, 0xe0, 0xf8};  // jmp *%rax .. *%r15

// Offsets in `bytes` at which the pair stands, ascending.
inline std::vector<size_t> find_pairs(std::span<const uint8_t> bytes, BytePair pair) {
  constexpr size_t kAtOnce = sizeof(__m128i);
  std::vector<size_t> found;
  const __m128i a = _mm_set1_epi8(char(pair.first)), b = _mm_set1_epi8(char(pair.second)),
                mask = _mm_set1_epi8(char(pair.mask));
  const auto load = [&](size_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&bytes[at]));
  };
  size_t at = 0;
  for (; at + kAtOnce < bytes.size(); at += kAtOnce) {
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(load(at), a),
                                       _mm_cmpeq_epi8(_mm_and_si128(load(at + 1), mask), b));
    for (auto bits = unsigned(_mm_movemask_epi8(both)); bits != 0; bits &= bits - 1)
      found.push_back(at + size_t(std::countr_zero(bits)));
  }
  for (; at + 1 < bytes.size(); at++) {
    if (bytes[at] == pair.first && (bytes[at + 1] & pair.mask) == pair.second) found.push_back(at);
  }
  return found;
}

}  // namespace dj::arch
