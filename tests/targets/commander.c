// A long-running program under command: does on stdin's orders what a test wants, so that counts are exact.
//   call N      all four threads together call work() N times; answers "called N"
//   quit        ends with status 0 and the total
// Two more threads sleep the whole time, in nanosleep and read; a sleep that ends early is counted.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 4 };
static atomic_long calls, interrupted, left;
static pthread_barrier_t begin_call, end_call;

NOINLINE long work(int id, long n) {
  atomic_fetch_add(&calls, 1);
  return n * 2 + id;
}

static void* worker(void* argument) {
  int id = (int)(long)argument;
  for (;;) {
    pthread_barrier_wait(&begin_call);
    while (atomic_fetch_sub(&left, 1) > 0) {
      if (work(id, 21) != 42 + id) abort();
    }
    pthread_barrier_wait(&end_call);
  }
  return NULL;
}

static void* sleeper(void* argument) {
  (void)argument;
  for (;;) {
    struct timespec second = {1, 0};
    if (nanosleep(&second, NULL) != 0) atomic_fetch_add(&interrupted, 1);
  }
  return NULL;
}

static void* reader(void* argument) {
  int pipes[2];
  char byte;
  (void)argument;
  if (pipe(pipes) != 0) abort();
  for (;;) {
    if (read(pipes[0], &byte, 1) < 0) atomic_fetch_add(&interrupted, 1);
  }
  return NULL;
}

int main(void) {
  char line[64];
  pthread_t thread;
  pthread_barrier_init(&begin_call, NULL, THREADS + 1);
  pthread_barrier_init(&end_call, NULL, THREADS + 1);
  for (long i = 0; i < THREADS; i++) pthread_create(&thread, NULL, worker, (void*)i);
  pthread_create(&thread, NULL, sleeper, NULL);
  pthread_create(&thread, NULL, reader, NULL);
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "call ", 5) == 0) {
      long n = atol(line + 5);
      atomic_store(&left, n);
      pthread_barrier_wait(&begin_call);
      pthread_barrier_wait(&end_call);
      fact("called", n);
    } else if (strncmp(line, "quit", 4) == 0) {
      break;
    }
  }
  fact("work calls", calls);
  fact("interrupted", interrupted);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
