// Constants whose highest bit in 1, 2 or 4 bytes is set, as optimized code's variables and as names
// of enumerations; parameters that all callers give one value, which clang takes out.
#include <stdio.h>

enum mixed { LOW = 1, BYTE = 200, SHORT = 40000, MINUS = -1 };
enum high { HIGH_BYTE = 130, HIGH_SHORT = 65000, HIGH_WORD = 0x90000000u };

__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }

__attribute__((noinline)) int show(enum mixed mixed, enum high high) {
  int byte = 200;
  short two = 130;
  const long half = 40000;
  unsigned long word = 0x80000000ul;
  short negative = -3;
  sink(mixed);  // LINE:constants
  sink(byte);
  sink(half);
  return mixed + (int)high + two + (int)word + negative;
}

__attribute__((noinline)) void use(int* a, int* b) {
  __asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

static __attribute__((noinline)) int given(int always, int other) {
  use(&always, &other);  // LINE:given
  return always + other;
}

int main(int argc, char** argv) {
  show(BYTE, HIGH_BYTE);
  show(SHORT, HIGH_SHORT);
  show(MINUS, HIGH_WORD);
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += given(42, argc + i);
  printf("sum: %d\n", sum);
  return argv == NULL;
}
// SPDX-License-Identifier: Apache-2.0
