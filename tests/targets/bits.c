// Values that follow from others by counting bits: the variables are gone where they are asked for.
#include <stdio.h>
__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long f(unsigned long x, unsigned int y, int k) {
  int last = __builtin_ctzl(x);
  sink(last * 7 + 3);
  int first = __builtin_clzl(x);
  sink(first * 5 + 1);
  int set = __builtin_popcountl(x);
  sink(set * 3 + 1);
  unsigned int turned = __builtin_bswap32(y);
  sink(turned * 3 + 1);
  unsigned long far = __builtin_bswap64(x);
  sink(far * 3 + 1);
  unsigned int round = y << 7 | y >> 25;
  sink(round * 3 + 1);
  int least = k < 9 ? k : 9;
  sink(least * 3 + 1);
  printf("truth %d %d %d %u %lu %u %d\n", last, first, set, turned, far, round, least);
  sink(x + y + k);  // LINE:bits
  return x + y + k;
}
int main(void) {
  for (long i = 1; i < 5; i++) f(i * 0x10300a0 << i, i * 0x1020304, i * 3);
  f(-1, 0xff000001, -5);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
