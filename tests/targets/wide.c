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
NOINLINE long double complex extended_pair(int n) { return n * 1.5L - 2.0iL; }
// Returns 1.5 with an exception pending (a division by zero, not masked): the next instruction of
// the x87 that waits for it raises SIGFPE.
NOINLINE __attribute__((used)) long double pending(const float* zero) {
  long double result = 1.5L;
  __asm__ volatile("fdivs %1" : "+t"(result) : "m"(*zero));
  return result;
}
static long double call_pending(unsigned short* status) {
  const unsigned short usual = 0x37f, unmasked = 0x37b;
  const float zero = 0;
  long double result = 0;
  __asm__ volatile("fldcw %[unmasked]; call pending; fnstsw %[status]; fnclex; fldcw %[usual]"
                   : "=t"(result), [status] "=m"(*status)
                   : "D"(&zero), [unmasked] "m"(unmasked), [usual] "m"(usual)
                   : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "st(1)",
                     "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
  return result;
}

typedef float four __attribute__((vector_size(16)));
typedef long eight __attribute__((vector_size(32)));
NOINLINE four quarter(float x) { return (four){x, x + 1, x + 2, x + 3}; }
NOINLINE int given(four v, float x) {
  four w = v * x;
  __asm__ volatile("" : "+x"(w));
  return (int)w[3];  // w is in a register, LINE:scaled
}
NOINLINE eight by_memory(long x) { return (eight){x, x + 1, x + 2, x + 3}; }
__attribute__((target("avx"))) NOINLINE eight by_register(const eight* p) { return *p + *p; }
__attribute__((target("avx"))) NOINLINE long call_by_register(void) {
  const long x = 1L << 40;
  const eight e = {x, x + 1, x + 2, x + 3};
  return by_register(&e)[3];
}

int main(void) {
  struct wide wide = {-1,   ((__int128)1 << 70) + 7, ~(unsigned __int128)0, 1 - 2 * I, 3.5f + 4 * I,
                      1.25L};
  long sum = show(&wide, 7.5L) + (long)(negative(1) >> 90) + (long)creal(pair(2)) +
             (long)crealf(small_pair(3));
  sum += (long)boxed(2).inner.x + (long)plain(2);
  sum += (long)creall(extended_pair(2));
  four v = quarter(0.5f);
  sum += given(v, 2.0f) + by_memory(7)[3];
  if (__builtin_cpu_supports("avx")) sum += call_by_register() >> 40;
  unsigned short status = 0;
  sum += (long)(call_pending(&status) * 2);
  fact("status", status & ~0x4700);  // but what a division leaves undefined
  fact("sum", sum);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
