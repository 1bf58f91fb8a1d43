// Numbers of more than 64 bits, and of two parts.
#include <complex.h>

#include "facts.h"

struct wide {
  __int128 low, high;
  unsigned __int128 most;
  double complex both;
  float complex single;
  long double extended;
};

__int128 global_wide = ((__int128)1 << 100) + 5;

NOINLINE int show(struct wide* p, long double given) {
  __asm__ volatile("" ::: "memory");
  return (int)p->low + (int)given;
}
NOINLINE __int128 negative(int n) { return -((__int128)n << 90); }
NOINLINE double complex pair(int n) { return n + 2.0 * I; }
NOINLINE float complex small_pair(int n) { return (float)n - 2.0f * I; }

struct alone {
  struct {
    long double x;
  } inner;
};
NOINLINE struct alone boxed(int n) {
  struct alone result = {{n * 2.5L}};
  return result;
}
NOINLINE long double plain(int n) { return n * 1.5L; }

int main(void) {
  struct wide wide = {-1,   ((__int128)1 << 70) + 7, ~(unsigned __int128)0, 1 - 2 * I, 3.5f + 4 * I,
                      1.25L};
  long sum = show(&wide, 7.5L) + (long)(negative(1) >> 90) + (long)creal(pair(2)) +
             (long)crealf(small_pair(3));
  sum += (long)boxed(2).inner.x + (long)plain(2);
  fact("sum", sum);
  return 0;
}
