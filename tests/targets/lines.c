// Source-line probes with locals. The tests find a line by the name in its LINE comment.
#include "facts.h"

static long loop_passes, odd_branches;

NOINLINE long walk(long from, long to) {
  long total = 0;
  for (long i = from; i < to; i++) {
    long square = i * i;
    loop_passes++;
    total += square;  // LINE:body
    if (i % 2 == 1) {
      odd_branches++;  // LINE:odd
    }
  }
  return total;  // LINE:out
}

NOINLINE int second(int value) {
  int doubled = value * 2;
  return doubled + 1;  // LINE:second
}

int main(void) {
  long total = 0;
  for (int n = 0; n < 10; n++) {
    total += walk(0, n);
    total += second(n);
  }
  fact("total", total);
  fact("loop passes", loop_passes);
  fact("odd branches", odd_branches);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
