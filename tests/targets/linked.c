// Threads call a library (linked_lib.c) until SIGTERM or a time is over, which calls the C library's labs() twice a round
// through its linkage stub; the program forks meanwhile, and the children do the same. It counts the calls.
//   linked [SECONDS]           ends by itself after SECONDS (default 60)
//   linked SECONDS again       executes itself first
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 3, CHILD_CALLS = 1000 };
static volatile sig_atomic_t stop;
static atomic_long calls, wrong, children;

long one_round(long n);  // 0: all was right

static void* run(void* argument) {
  (void)argument;
  long n = 0;
  for (; !stop; n++) atomic_fetch_add(&wrong, one_round(n));
  atomic_fetch_add(&calls, 2 * n);
  return NULL;
}

static void fork_child(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    long bad = 0;
    for (long n = 0; n < CHILD_CALLS; n++) bad += one_round(n);
    _exit(bad != 0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) atomic_fetch_add(&wrong, 1);
  atomic_fetch_add(&children, 1);
}

static void on_term(int number) {
  (void)number;
  stop = 1;
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  if (argc > 2) execl(argv[0], argv[0], argv[1], NULL);
  signal(SIGTERM, on_term);
  signal(SIGALRM, on_term);
  alarm(argc > 1 ? (unsigned)atoi(argv[1]) : 60);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
  fact("pid", getpid());
  while (!stop) {
    fork_child();
    usleep(20000);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  fact("labs calls", calls);
  fact("children", children);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
