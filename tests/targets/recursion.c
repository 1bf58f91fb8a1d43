// Recursive functions whose numbers of calls and results are known, in four threads at once.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "facts.h"

enum {
  DEPTH = 1000
};  // of four threads at once: an eighth of what djtap keeps of calls at one time

static atomic_long fib_calls, deep_calls;

NOINLINE long fib(int n) {
  atomic_fetch_add(&fib_calls, 1);
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// Not a tail call: the addition comes after it.
NOINLINE long deep(long n) {
  atomic_fetch_add(&deep_calls, 1);
  return n == 0 ? 0 : 1 + deep(n - 1);
}

static void* run(void* argument) {
  (void)argument;
  if (fib(15) != 610) abort();
  if (deep(DEPTH) != DEPTH) abort();
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  fact("fib calls", fib_calls);
  fact("deep calls", deep_calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
