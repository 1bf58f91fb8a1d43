// A shared library whose constructor already calls the function that is probed.
#include <stdatomic.h>

#include "facts.h"

static atomic_long lib_calls;

NOINLINE long lib_work(long n) {
  atomic_fetch_add(&lib_calls, 1);
  return n + 1;
}

long lib_total(void) { return lib_calls; }

__attribute__((constructor)) static void before_main(void) {
  for (long i = 0; i < 50; i++) lib_work(i);
}

__attribute__((destructor)) static void after_main(void) {
  for (long i = 0; i < 7; i++) lib_work(i);
  fact("lib_work calls", lib_calls);
}
// SPDX-License-Identifier: Apache-2.0
