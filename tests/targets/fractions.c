// Variables that nobody uses: debug info computes them from doubles, floats and whole numbers.
#include <stdio.h>
struct all { double x, y; float a, b; int i; unsigned long u; };
__attribute__((noinline)) double f(struct all* r) {
  double x = r->x, y = r->y, sum = x + y, product = x * y, quotient = x / y, difference = x - y, negative = -x;
  double size = __builtin_fabs(x), of_unsigned = r->u, of_float = r->a, half = x * 0.5 + 1;
  float small = r->a + r->b, third = r->a / r->b, narrow = x, minus = -r->b, of_int = r->i;
  long whole = x;
  unsigned int cut = y;
  int less = x < y, same = x == y, more = (x > y) + r->i;
  __asm__ volatile("nop" : : "r"(r));  // LINE:fractions
  r->i++;
  return r->x;
}
__attribute__((noinline)) void told(double x, double y, float a, float b, int i, unsigned long u) {
  printf("truth %.17g %.17g %.17g %.17g %.17g %.17g %.9g %.9g %.9g %.9g %.9g %.17g %.17g %.17g %ld %u %d %d %d\n", x + y, x * y, x / y, x - y, -x,
         __builtin_fabs(x), a + b, a / b, (float)x, -b, (float)i, (double)u, (double)a, x * 0.5 + 1, (long)x, (unsigned int)y, x < y, x == y, (x > y) + i);
}
int main(int argc, char **argv) {
  struct all rows[] = {{-2.74, 3.25, 1.4f, .3f, -2, 3}, {0, 1.5, .7f, .1f, 5, 0},
                       {1e300, 2.5, .1f, 3e-39f, 7, -1ul}, {4.25, 4.25, 3, .1f, 16777217, 1ul << 63}, {-0., 1e-310, -0.f, 1e-40f, 1, 9}};
  double t = 0;
  for (int k = 0; k < 5; k++) {
    struct all* r = &rows[k];
    told(r->x, r->y, r->a, r->b, r->i, r->u);
    t += f(r);
  }
  return t == 0;
}
// SPDX-License-Identifier: Apache-2.0
