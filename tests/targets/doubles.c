// Numbers with a fraction: in vector registers, on the stack, in structs and as results.
#include "facts.h"

struct reading {
  double celsius;
  float humidity;
  long double exact;
  double history[3];
};

NOINLINE double mix(double a, float b, int n, double c) { return a * b + n * c; }

NOINLINE double last(double a, double b, double c, double d, double e, double f, double g, double h,
                     double ninth) {
  return a + b + c + d + e + f + g + h + ninth;
}

NOINLINE float cool(struct reading* r) {
  r->celsius -= 0.5;
  return r->humidity;
}

NOINLINE double pick_real(double size) { return size * 2; }
NOINLINE long pick_whole(int size) { return size * 2L; }

int main(void) {
  struct reading room = {21.75, 0.375f, 1.0L / 3, {-1.5, 0, 1e300}};
  double total = 0;
  for (int i = 1; i <= 1000; i++) total += mix(i / 8.0, 1.5f, i, -0.25);
  printf("total: %.10f\n", total);
  printf("last: %g\n", last(1, 2, 3, 4, 5, 6, 7, 8, 9.125));
  for (int i = 0; i < 4; i++) cool(&room);
  printf("celsius: %g\n", room.celsius);
  fact("picked", (long)pick_real(2.5) + pick_whole(7));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
