// SPDX-License-Identifier: Apache-2.0
// may_refer(), numbers_within(): select, sixteen bytes at a time, those at which the scan
// (branch_scan.h) may find a reference. In real code that is one byte in eleven, and the test of
// all bytes needs no branch.
#pragma once
#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

namespace dj::arch {

using Block = __m128i;
constexpr size_t kBlockBytes = sizeof(Block);

// Reads kBlockBytes bytes, which may have any alignment.
inline Block load_block(const uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const Block*>(bytes));
}

// Returns a number whose bit i is set if byte i of `bytes`, 0 or 0xff, is not 0.
inline uint32_t bits(Block bytes) { return uint32_t(_mm_movemask_epi8(bytes)); }

// Returns 0xff for those bytes whose bits in `mask` are `value`.
inline Block match(Block bytes, uint8_t mask, uint8_t value) {
  return _mm_cmpeq_epi8(bytes & _mm_set1_epi8(char(mask)), _mm_set1_epi8(char(value)));
}

// Returns 0xff where a branch, a lea or a ModRM byte of an operand relative to rip may begin. Reads
// one byte behind the block.
inline Block may_refer(const uint8_t* bytes) {
  const Block here = load_block(bytes), next = load_block(bytes + 1);
  const Block jcc = match(here, 0xf0, 0x70), loop = match(here, 0xfc, 0xe0);
  const Block jmp8 = match(here, 0xff, 0xeb), call_or_jmp = match(here, 0xfe, 0xe8);
  const Block long_jcc = match(here, 0xff, 0x0f) & match(next, 0xf0, 0x80);
  const Block lea = match(here, 0xff, 0x8d) & match(next, 0xc7, 0x05);
  const Block xbegin = match(here, 0xff, 0xc7) & match(next, 0xff, 0xf8);
  const Block rip = match(here, 0xc7, 0x05);
  return jcc | loop | jmp8 | call_or_jmp | long_jcc | lea | xbegin | rip;
}

// Returns 0xff where the four bytes from there on are the low half of one of `size` numbers from
// `low` on. Reads three bytes behind the block.
inline Block numbers_within(const uint8_t* bytes, uint64_t low, uint64_t size) {
  constexpr uint64_t kEnd = uint64_t(1) << 32;
  if (size >= kEnd) return _mm_set1_epi8(char(0xff));
  constexpr uint32_t kSign = 1u << 31;  // comparisons are signed
  const Block from = _mm_set1_epi32(int(uint32_t(low) + kSign));
  const Block end = _mm_set1_epi32(int(uint32_t(size) ^ kSign));
  Block found = _mm_setzero_si128();
  for (int i = 0; i < 4; i++) {
    const Block within = _mm_cmpgt_epi32(end, _mm_sub_epi32(load_block(bytes + i), from));
    found |= within & _mm_set1_epi32(int(0xffu << 8 * i));
  }
  return found;
}

}  // namespace dj::arch
