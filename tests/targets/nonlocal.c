// Functions that are left without a return and without longjmp(): by __builtin_longjmp() and, in GNU C, by a
// goto out of a nested function. Each counts its calls and its returns.
#include "facts.h"

static void* buffer[5];
static long leap_calls, leap_returns, inner_calls, inner_returns, outer_calls, taken;

__attribute__((noinline)) long leap(long n) {
  leap_calls++;
  if (n % 4 == 0) __builtin_longjmp(buffer, 1);
  leap_returns++;
  return n;
}

__attribute__((noinline)) long land(long n) {
  if (__builtin_setjmp(buffer) == 0) return leap(n) + 1;
  taken++;
  return 2;
}

#ifdef __clang__
__attribute__((noinline)) long outer(long n) {
  outer_calls++;
  return n;
}
#else
__attribute__((noinline)) static long apply(long (*f)(long), long n) { return f(n) + 1; }

__attribute__((noinline)) long outer(long n) {
  __label__ out;
  long sum = n;
  auto long inner(long);
  long inner(long x) {
    inner_calls++;
    sum += x;
    if (sum % 5 == 0) goto out;
    inner_returns++;
    return sum;
  }
  outer_calls++;
  sum += apply(inner, n);
  return sum;
out:
  taken++;
  return -sum;
}
#endif

int main(void) {
  volatile long total = 0;
  for (volatile long i = 0; i < 100; i++) total += land(i) + outer(i);
  fact("leap calls", leap_calls);
  fact("leap returns", leap_returns);
  fact("inner calls", inner_calls);
  fact("inner returns", inner_returns);
  fact("outer calls", outer_calls);
  fact("outer returns", outer_calls);
  fact("taken", taken);
  fact("total", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
