// Functions of Windows' convention, and a struct that is larger than its members; prints what each is given and returns.
#include <stdio.h>

struct large {
  long a, b, c;
};
struct small {
  int n;
  float f;
};
struct __attribute__((aligned(32))) padded {
  long a, b;
};

__attribute__((noinline)) void use(const void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }

__attribute__((ms_abi, noinline)) struct large windows(int a, double b, struct large c, struct small d, char e) {
  use(&c);
  printf("windows <%d %g %ld %d %g %d>\n", a, b, c.b, d.n, d.f, e);
  return c;
}

__attribute__((ms_abi, noinline)) struct small windows_small(struct small a, const char* b) {
  printf("windows_small <%d %s>\n", a.n, b);
  return a;
}

__attribute__((noinline)) long system_v(struct padded a, int b, struct padded c, int d) {
  use(&c);
  printf("system_v <%ld %d %ld %d>\n", a.b, b, c.a, d);
  return a.a;
}

int main(void) {
  struct large large = {11, 12, 13};
  struct small small = {21, 2.5f};
  struct padded padded = {31, 32};
  large = windows(1, 1.5, large, small, 5);
  small = windows_small(small, "text");
  printf("returned <%ld> <%d %g> <%ld>\n", large.c, small.n, small.f, system_v(padded, 2, padded, 4));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
