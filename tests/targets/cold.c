// A switch whose rare cases gcc splits off as pick.cold: the jump table leads right into the middle
// of that part, which nothing calls and where no direct jump goes.
#include "facts.h"

static volatile long seen;

__attribute__((cold, noinline)) static void rare(long n) { seen += n; }

NOINLINE long pick(int what, long n) {
  switch (what) {
    case 0: return n + 3;
    case 1: return n * 5;
    case 2: rare(n); return n ^ 7;
    case 3: seen = n; return n - 1;
    case 4:
      rare(n);
      __asm__ volatile("inc %0" : "+r"(n));  // 3 bytes LINE:before_case
      __attribute__((fallthrough));
    case 5: rare(n + 1); return n + 9;
    case 6: return n << 3;
    case 7: rare(n * 2); return n | 64;
    default: return -n;
  }
}

int main(void) {
  long total = 0, fourth = 0;
  for (long i = 0; i < 900; i++) {
    total = total * 31 + pick((int)(i % 9), i);
    fourth += i % 9 == 4;
  }
  fact("total", total);
  fact("seen", seen);
  fact("fourth", fourth);
}
// SPDX-License-Identifier: Apache-2.0
