// A function that goes on where it was left, by an address that it keeps in a variable: a jump through that
// is no return.
#include "facts.h"

NOINLINE int next(int n) {
  static void* state = &&start;
  goto* state;
start:
  state = &&middle;
  return n;
middle:
  state = &&end;
  return n * 2;
end:
  state = &&start;
  return n * 3;
}

enum { CALLS = 999 };

int main(void) {
  long total = 0;
  for (int i = 0; i < CALLS; i++) total += next(i);
  fact("calls", CALLS);
  fact("total", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
