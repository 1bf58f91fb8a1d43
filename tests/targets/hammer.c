// Four threads call work() as fast as they can until SIGTERM; for attach, detach and kill -9 under load.
//   hammer [SECONDS]     ends by itself after SECONDS (default 60)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 4 };
static volatile sig_atomic_t stop;
static atomic_long calls, wrong;

NOINLINE long work(int id, long n) {
  return n * 2 + id;
}

static void* run(void* argument) {
  int id = (int)(long)argument;
  long n = 0;
  for (; !stop; n++) {
    if (work(id, n) != n * 2 + id) atomic_fetch_add(&wrong, 1);
  }
  atomic_fetch_add(&calls, n);
  return NULL;
}

static void on_term(int number) {
  (void)number;
  stop = 1;
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  signal(SIGTERM, on_term);
  signal(SIGALRM, on_term);
  alarm(argc > 1 ? (unsigned)atoi(argv[1]) : 60);
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void*)i);
  fact("pid", getpid());
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  fact("work calls", calls);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
