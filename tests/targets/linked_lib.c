// A library that calls labs() through its linkage stub: by a call, and by a tail jump.
#include <stdlib.h>

__attribute__((noinline, noclone, noipa)) static long calling(long n) {
  return labs(-n) + 1;
}

__attribute__((noinline, noclone, noipa)) static long leaving(long n) {
  return labs(-n);
}

long one_round(long n) {
  return calling(n) != n + 1 || leaving(n) != n;
}
// SPDX-License-Identifier: Apache-2.0
