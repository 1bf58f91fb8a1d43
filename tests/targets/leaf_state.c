// What a mid-function probe must leave alone: the red zone, the flags, vector registers of 256 bits.
// Leaf functions whose results depend on each of them; the program checks them itself.
#include <immintrin.h>
#include <stdlib.h>

#include "facts.h"

enum { ROUNDS = 2000 };

// Its array lies below the stack pointer.
NOINLINE long red_zone(long n) {
  volatile long below[12];
  for (long i = 0; i < 12; i++) below[i] = n * i;
  long sum = 0;
  for (long i = 0; i < 12; i++) sum += below[i];
  return sum;
}

// Carry, overflow, zero, sign and parity live across instructions that do not touch them.
long flags(long a, long b);
__asm__(".type flags,@function; .globl flags; flags:"
        "xor %eax,%eax; lea 3(%rdi),%rdx; cmp %rsi,%rdi; lea 1(%rdx),%rdx; mov %rdx,%rcx;"
        "setc %al; lea (%rcx,%rcx),%rcx; setl %cl; seto %dl; lea (%rax,%rax),%rax; setp %dh; sete %ch;"
        "movzwl %cx,%ecx; movzwl %dx,%edx; lea (%rax,%rcx,4),%rax; shl $20,%rdx; add %rdx,%rax; ret; .size flags,.-flags");

static long flags_in_c(long a, long b) {
  unsigned char low = (unsigned char)((unsigned long)a - (unsigned long)b);
  long carry = (unsigned long)a < (unsigned long)b, less = a < b, difference;
  long overflow = __builtin_ssubl_overflow(a, b, &difference), parity = !__builtin_parity(low);
  return carry * 2 + (less | (a == b) << 8) * 4 + ((overflow | parity << 8) << 20);
}

__attribute__((noinline, noclone, target("avx2"))) __m256i wide(__m256i v, __m256i w) {
  __m256i sum = _mm256_add_epi64(v, w);
  return _mm256_xor_si256(_mm256_slli_epi64(sum, 3), w);
}

__attribute__((target("avx2"))) static long wrong_wide(void) {
  long wrong = 0;
  for (long i = 0; i < ROUNDS; i++) {
    long lanes[4];
    __m256i v = _mm256_set_epi64x(i * 4, i * 3, i * 2, i), w = _mm256_set1_epi64x(i + 17);
    _mm256_storeu_si256((__m256i*)lanes, wide(v, w));
    for (long k = 0; k < 4; k++) wrong += lanes[k] != ((((k + 1) * i + i + 17) << 3) ^ (i + 17));
  }
  return wrong;
}

int main(void) {
  long wrong_zone = 0, wrong_flags = 0;
  for (long i = 0; i < ROUNDS; i++) {
    wrong_zone += red_zone(i) != 66 * i;
    unsigned long u = (unsigned long)i;
    long a = (long)(u * 0x123456789abcdef1), b = i % 7 == 0 ? a : (long)(u * u * 0x13579bdf2468ace7);
    wrong_flags += flags(a, b) != flags_in_c(a, b);
  }
  int vectors = __builtin_cpu_supports("avx2") != 0;
  fact("vectors", vectors);
  fact("wrong red zone", wrong_zone);
  fact("wrong flags", wrong_flags);
  fact("wrong vectors", vectors ? wrong_wide() : 0);
  return wrong_zone != 0 || wrong_flags != 0;
}
// SPDX-License-Identifier: Apache-2.0
