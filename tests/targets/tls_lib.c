// A library with thread-local variables. PREFIX makes the names of each copy its own.
#include "facts.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(name) PASTE(PREFIX, name)

__thread long NAME(shared);      // begins as 0: has no bytes in the file
static __thread int hidden = 5;  // begins with a value
static __thread struct {
  int low[20];
  long last;
} big;
int NAME(plain) = 1;

// All three have been changed by this thread.
NOINLINE long NAME(seen)(long id, long sum) { return id + sum; }

NOINLINE long NAME(work)(long id, long n) {
  hidden += (int)n;
  NAME(shared) += 2 * n;
  big.last += 3 * n;
  big.low[3] -= (int)n;
  big.low[4] = NAME(plain);
  return NAME(seen)(id, hidden + NAME(shared)) - id;
}
// SPDX-License-Identifier: Apache-2.0
