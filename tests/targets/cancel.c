// Threads on the smallest stacks, cancelled inside the probed functions: at a cancellation point,
// and anywhere.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 200 };
static atomic_long calls, sleeps, cleanups;
static atomic_int running;

NOINLINE void work(void) { atomic_fetch_add(&calls, 1); }

NOINLINE void nap(void) {
  atomic_fetch_add(&sleeps, 1);
  running = 1;
  for (;;) pause();
}

static void cleanup(void* argument) {
  (void)argument;
  atomic_fetch_add(&cleanups, 1);
}

static void* at_a_point(void* argument) {
  pthread_cleanup_push(cleanup, NULL);
  work();
  nap();
  pthread_cleanup_pop(0);
  return argument;
}

static void* anywhere(void* argument) {
  pthread_cleanup_push(cleanup, NULL);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  running = 1;
  for (;;) work();
  pthread_cleanup_pop(0);
  return argument;
}

int main(void) {
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN);
  long cancelled = 0, before_async = 0;
  for (int i = 0; i < 2 * THREADS; i++) {
    if (i == THREADS) before_async = calls;
    pthread_t thread;
    void* result = NULL;
    running = 0;
    pthread_create(&thread, &smallest, i < THREADS ? at_a_point : anywhere, NULL);
    while (!running) usleep(50);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  fact("cancelled", cancelled);
  fact("cleanups", cleanups);
  fact("sleeps", sleeps);
  fact("calls before", before_async);
  fact("calls", calls);
  return cancelled == 2 * THREADS ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
