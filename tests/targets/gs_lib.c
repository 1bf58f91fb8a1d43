// A shared library that sets the gs base by an instruction when it is opened, and reads through it at each call.
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "facts.h"

static long own[16] = {4711};
static atomic_long lib_calls;

static int may_set(void) { return (getauxval(AT_HWCAP2) & 2) != 0; }

NOINLINE long lib_work(long n) {
  long word = 4711;
  if (may_set()) __asm__ volatile("movq %%gs:0, %0" : "=r"(word));
  if (word != 4711) abort();
  atomic_fetch_add(&lib_calls, 1);
  return n + 1;
}

__attribute__((constructor)) static void take(void) {
  if (may_set()) __asm__ volatile("wrgsbase %0" : : "r"(own));
}

__attribute__((destructor)) static void after_main(void) { fact("lib_work calls", lib_calls); }
// SPDX-License-Identifier: Apache-2.0
