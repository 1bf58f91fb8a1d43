// Parameters that the compiler's copies of functions do not get any more: their callers know what they would be.
#include <stdio.h>

struct point {
  long x, y;
};

static __attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }

static __attribute__((noinline)) long sum(struct point* p, int unused, int scale) {
  long s = p->x + p->y;
  for (int i = 0; i < scale; i++) s += i * s ^ 3;
  sink(s);
  return s;  // LINE:sum
}

static __attribute__((noinline)) long mixed(long a, long gone, double real, float small, long b) {
  sink(a);
  sink(b);  // LINE:mixed
  return a ^ b;
}

static __attribute__((noinline)) long power(long base, int exponent, int flag) {
  long r = 1;
  for (int i = 0; i < exponent; i++) r = r * base + (r >> 3);
  sink(r);
  return r;  // LINE:power
}

int main(int argc, char** argv) {
  struct point a = {argc, 2};
  long total = 0;
  (void)argv;
  for (int i = 0; i < 3; i++) {
    a.x = i;
    printf("truth sum %d\n", i * 2);
    total += sum(&a, i * 2, 3 + argc);
    printf("truth mixed %d %g %g\n", i + 100, 1.25, 0.5f);
    total += mixed(i, i + 100, 1.25, 0.5f, argc);
    printf("truth mixed %d %g %g\n", -7, i * 2.5, i + 0.25f);
    total += mixed(i + 1, -7, i * 2.5, i + 0.25f, argc + 1);
    printf("truth power 3 %d\n", i + 1000);
    total += power(i, 3, i + 1000);
  }
  printf("total %ld\n", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
