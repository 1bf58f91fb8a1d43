// Threads on small stacks, each as deep in recursion as leaves room for one signal frame and a
// handler.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 100 };
static atomic_long calls, wrong;
static long room;  // bytes that stay free below the deepest frame

// Not a tail call: the addition comes after it.
NOINLINE long deep(long n, const char* bottom) {
  char here;
  atomic_fetch_add(&calls, 1);
  if (&here - bottom < room) return n;
  return deep(n + 1, bottom) + 1;
}

static void* run(void* argument) {
  pthread_attr_t own;
  void* bottom = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &own) != 0) abort();
  pthread_attr_getstack(&own, &bottom, &bytes);
  pthread_attr_destroy(&own);
  const long result = deep(0, bottom);
  if (result < 10 || result % 2 != 0) atomic_fetch_add(&wrong, 1);
  return argument;
}

int main(void) {
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  // A signal frame holds the processor's vector and tile registers: alone it may fill that minimum.
  const long frame = sysconf(_SC_MINSIGSTKSZ);
  pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN + (size_t)frame);
  room = frame + 1024;
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &smallest, run, NULL) != 0) abort();
    pthread_join(thread, NULL);
  }
  fact("calls", calls);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
