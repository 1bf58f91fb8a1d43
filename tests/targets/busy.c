// Work that a profile should show: hot() does four times as much as warm(), in a thread of its own, while
// other threads wait in calls that a stray signal would end with EINTR.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

#define ROUNDS 25
#define STEPS 5000000L

static volatile int done;
static long checksum, interrupted, waits;

NOINLINE double spin(long steps, double value) {
  for (long i = 0; i < steps; i++) value = value * 0.999999 + (double)(i & 7);
  return value;
}
NOINLINE double hot(double value) {
  double result = spin(4 * STEPS, value);
  __asm__ volatile("" ::: "memory");
  return result;
}
NOINLINE double warm(double value) {
  double result = spin(STEPS, value);
  __asm__ volatile("" ::: "memory");
  return result;
}

static void* work(void* number) {
  *(long*)number = syscall(SYS_gettid);
  double value = 1;
  for (int i = 0; i < ROUNDS; i++) {
    value = hot(value);
    value = warm(value);
  }
  checksum = (long)(value * 1000);
  done = 1;
  return NULL;
}

// Asleep nearly all the time.
NOINLINE void wait_for_events(int events) {
  struct epoll_event event;
  waits++;
  if (epoll_wait(events, &event, 1, 1) < 0 && errno == EINTR) interrupted++;
}

static void* sleeper(void* pipe_end) {
  char byte;
  if (read(*(int*)pipe_end, &byte, 1) < 0 && errno == EINTR) interrupted++;
  return NULL;
}

int main(void) {
  int ends[2];
  long worker = 0;
  pthread_t threads[2];
  if (pipe(ends) != 0) return 1;
  pthread_create(&threads[0], NULL, work, &worker);
  pthread_create(&threads[1], NULL, sleeper, &ends[0]);
  int events = epoll_create1(0);
  while (!done) wait_for_events(events);
  if (write(ends[1], "x", 1) != 1) return 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  fact("worker", worker);
  fact("checksum", checksum);
  fact("interrupted", interrupted);
  return 7;
}
// SPDX-License-Identifier: Apache-2.0
