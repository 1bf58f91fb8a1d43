// Threads and children that come and go, and signals every 300 us, all calling work(), until
// SIGTERM; for text that is written meanwhile.
//   churn [SECONDS]     ends by itself after SECONDS (default 60)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

enum { STEADY = 2, SHORT = 500 };
static volatile sig_atomic_t stop;
static atomic_long wrong, rounds;

NOINLINE long work(int id, long n) { return n * 2 + id; }

static void call(int id, long times) {
  for (long n = 0; n < times; n++) {
    if (work(id, n) != n * 2 + id) atomic_fetch_add(&wrong, 1);
  }
}

static void* steady(void* argument) {
  while (!stop) call((int)(long)argument, SHORT);
  return NULL;
}

static void* brief(void* argument) {
  call((int)(long)argument, SHORT);
  return NULL;
}

static void on_term(int number) {
  (void)number;
  stop = 1;
}

static void on_tick(int number) { call(number, 10); }

static void child(void) {
  pid_t pid = fork();
  if (pid == 0) {
    call(77, SHORT);
    _exit(wrong != 0);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
  }
  if (status != 0) atomic_fetch_add(&wrong, 1);
}

int main(int argc, char** argv) {
  pthread_t threads[STEADY], other;
  struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  struct itimerval period = {{0, 300}, {0, 300}};
  signal(SIGTERM, on_term);
  alarm(argc > 1 ? (unsigned)atoi(argv[1]) : 60);
  sigaction(SIGVTALRM, &tick, NULL);
  setitimer(ITIMER_VIRTUAL, &period, NULL);
  for (long i = 0; i < STEADY; i++) pthread_create(&threads[i], NULL, steady, (void*)i);
  fact("pid", getpid());
  for (; !stop; rounds++) {
    pthread_create(&other, NULL, brief, (void*)(rounds % 100));
    pthread_join(other, NULL);
    child();
  }
  for (int i = 0; i < STEADY; i++) pthread_join(threads[i], NULL);
  fact("rounds", rounds);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
