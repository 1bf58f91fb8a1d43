// Four threads call work(id, n); the sums and counts are known. Built in many forms: see CMakeLists.txt.
//   count [CALLS_PER_THREAD [THREADS]]
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "facts.h"

enum { MAX_THREADS = 64 };
static long calls_per_thread = 1000;
static atomic_long calls, sum;

NOINLINE long work(int id, long n) {
  atomic_fetch_add(&calls, 1);
  atomic_fetch_add(&sum, n);
  return n * 2 + id;
}

static void* run(void* argument) {
  int id = (int)(long)argument;
  for (long n = 0; n < calls_per_thread; n++) {
    long result = work(id, n);
    if (result != n * 2 + id) abort();
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[MAX_THREADS];
  int count = 4;
  if (argc > 1) calls_per_thread = atol(argv[1]);
  if (argc > 2 && (count = atoi(argv[2])) > MAX_THREADS) abort();
  for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, (void*)i);
  for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
  fact("work calls", calls);
  fact("sum", sum);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
