// Places inside of functions: inlined copies, a label, calls, lines of a header's worth of code.
// The program counts for itself what each place sees.
#include <stdlib.h>

#include "facts.h"

static volatile long sink;
static long tripled, tripled_sum, retries, helped, freed;

static inline __attribute__((always_inline)) long triple(long value, long bias) {
  tripled++;
  tripled_sum += value;
  sink = value + bias;
  return value * 3 + bias;  // LINE:tripled
}

NOINLINE long helper(long a, long b, long c, long d, long e, long f, long g) {
  helped++;
  return sink = a + b + c + d + e + f + g;
}

NOINLINE long by_hand(long n) {
  long tries = 0;
again:
  retries++;
  sink = tries;
  if (++tries < n) {  // LINE:tries
    goto again;
  }
  return tries;
}

NOINLINE long uses(long n) {
  long total = triple(n, 1);
  total += triple(n + 1, 2);
  total += helper(n, 2, 3, 4, 5, 6, 7);
  return total;
}

NOINLINE long other(long n) {
  void* block = malloc(16);
  sink = (long)block;
  free(block);
  freed++;
  return helper(n, 0, 0, 0, 0, 0, 1) + triple(n, 3);
}

int main(void) {
  long total = 0;
  for (long n = 0; n < 50; n++) {
    total += uses(n) + by_hand(n % 4 + 1);
    if (n % 5 == 0) {
      total += other(n);
    }
  }
  fact("triple calls", tripled);
  fact("triple sum", tripled_sum);
  fact("retries", retries);
  fact("helper calls", helped);
  fact("other calls", freed);
  return total == 0;
}
// SPDX-License-Identifier: Apache-2.0
