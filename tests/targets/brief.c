// Short functions that go into their detours whole, and what they would do wrong there.
#include <stdint.h>
#include <stdlib.h>

#include "facts.h"

volatile long calls, large, slot = 3;

NOINLINE long straight(long a, long b) {
  long sum = 3 * a + b;
  sum ^= a << 2;
  return sum;
}

NOINLINE long branching(long a) {
  if (__builtin_expect(a % 4 == 3, 0)) {
    large++;  // behind the return
    return -a;
  }
  return a + 5;
}

NOINLINE long looping(long n) {
  long sum = n * 3;
  do sum += n;
  while (--n > 0);
  return sum;
}

// A fault in the middle of it is the kernel's to see.
NOINLINE long loading(const volatile long* from) {
  const long value = 7 * *from;
  return value ^ *from;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1000;
  long sum = 0;
  for (long i = 0; i < rounds; i++) {
    sum += straight(i, 2) + branching(i) + looping(i % 5) + loading(&slot);
    calls++;
  }
  fact("calls", calls);
  fact("large", large);
  fact("sum", sum & 0x7fffffff);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
