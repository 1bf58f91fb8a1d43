// Functions of which the compiler makes copies for their callers: with fewer parameters, or with constants in their place.
#include "facts.h"

struct point {
  int x, y;
};

// `unused` and the pointer go: only what it points to is passed.
static __attribute__((noinline)) int sum(struct point* p, int unused, int scale) {
  int s = p->x + p->y;
  (void)unused;
  for (int i = 0; i < scale; i++) s += i * s ^ 3;
  return s;
}

// `exponent` is 3 in all calls.
static __attribute__((noinline)) int power(int base, int exponent) {
  int r = 1;
  for (int i = 0; i < exponent; i++) r = r * base + (r >> 3);
  return r;
}

int main(int argc, char** argv) {
  struct point a = {argc, 2};
  int total = 0;
  (void)argv;
  for (int i = 0; i < 10; i++) {
    a.x = i;
    total += sum(&a, i, 3 + argc);
    total += power(i, 3);
  }
  fact("total", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
