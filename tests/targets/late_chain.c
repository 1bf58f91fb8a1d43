// A library for a program that opens it late (plugin.c): a chain of functions without frame
// pointers, whose innermost one tells its callers by backtrace(). With -DOTHER its functions have
// other names.
#include <execinfo.h>
#include <stdio.h>

#ifdef OTHER
#define OUTER other_outer
#define MIDDLE other_middle
#define INNER other_inner
#else
#define OUTER outer
#define MIDDLE middle
#define INNER inner
#endif

enum { MOST = 64 };
volatile long kept;

static inline __attribute__((always_inline)) void tell(void) {
  void* frames[MOST];
  int count = backtrace(frames, MOST);  // LINE:told
  printf("truth");
  for (int i = 0; i < count; i++) printf(" %p", frames[i]);
  printf("\n");
}

__attribute__((noinline)) long INNER(long n) {
  tell();  // LINE:inner
  kept = n;
  return n - kept;
}

// A frame whose size is known at run time only, when n is.
__attribute__((noinline)) long MIDDLE(long n) {
  char bytes[n % 7 * 16 + 16];
  for (unsigned i = 0; i < sizeof bytes; i++) ((volatile char*)bytes)[i] = 1;
  return INNER(n) + bytes[n % 7] - 1;
}

__attribute__((noinline)) long OUTER(long n, long depth) {
  long result = depth > 0 ? OUTER(n, depth - 1) : MIDDLE(n);
  kept = n;  // no tail call
  return result + n - kept;
}

long lib_work(long n) { return OUTER(n, n % 5) + n + 1; }
// SPDX-License-Identifier: Apache-2.0
