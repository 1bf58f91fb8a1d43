// AVX-512: 64-byte values and mask registers that live across every instruction of a loop.
#include <immintrin.h>
#include <stdint.h>

#include "facts.h"

#define AVX512 __attribute__((target("avx512f,avx512bw")))

volatile long calls, turns;

NOINLINE AVX512 void mix(uint32_t* words, long rounds) {
  __m512i a = _mm512_loadu_si512(words), b = _mm512_loadu_si512(words + 16);
  for (long i = 0; i < rounds; ++i) {
    __mmask16 larger = _mm512_cmpgt_epi32_mask(a, b);
    a = _mm512_mask_add_epi32(a, larger, a, b);
    b = _mm512_mask_xor_epi32(b, ~larger, b, _mm512_rol_epi32(a, 7));
    a = _mm512_add_epi32(a, _mm512_set1_epi32(12345));
    ++turns;
  }
  ++calls;
  _mm512_storeu_si512(words, a);
  _mm512_storeu_si512(words + 16, b);
}

int main(void) {
  if (!__builtin_cpu_supports("avx512bw")) {
    printf("no AVX-512\n");
    return 0;
  }
  uint32_t words[32];
  uint64_t sum = 0;
  for (uint32_t i = 0; i < 32; ++i) words[i] = i * 2654435761u;
  for (int i = 0; i < 500; ++i) mix(words, 20);
  for (int i = 0; i < 32; ++i) sum = sum * 31 + words[i];
  printf("sum: %llx\n", (unsigned long long)sum);
  fact("calls", calls);
  fact("turns", turns);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
