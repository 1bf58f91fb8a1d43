// Does all that a C library makes system calls of signal masks and threads for, with calls of
// work() between, where SIGTRAP could be blocked. Tests build it with musl, too.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static long calls, handled;

NOINLINE void work(void) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

static void on_signal(int number) {
  (void)number;
  work();
  handled++;
}

static void block_all(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static void* blocked(void* nothing) {
  sigset_t before;
  block_all(&before);
  for (int i = 0; i < 1000; i++) work();
  return nothing;
}

static int never[2];

static void* asleep(void* nothing) {
  char byte;
  work();
  return read(never[0], &byte, 1) == 1 ? nothing : never;
}

static int cancels(void) {
  pthread_t thread;
  void* result = NULL;
  if (pipe(never) != 0 || pthread_create(&thread, NULL, asleep, NULL) != 0) return 0;
  usleep(50000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

static void threads(void) {
  enum { kThreads = 4 };
  pthread_t all[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&all[i], NULL, blocked, NULL);
  for (int i = 0; i < kThreads; i++) pthread_join(all[i], NULL);
}

static void signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  sigset_t before, all;
  block_all(&before);
  work();
  raise(SIGUSR1);
  work();
  sigprocmask(SIG_SETMASK, &before, NULL);
  sigfillset(&all);
  const struct timespec moment = {0, 1000000};
  pselect(0, NULL, NULL, NULL, &moment, &all);
  work();
}

int main(void) {
  threads();
  const int cancelled = cancels();
  signals();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; i++) work();
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  calls += 10;  // the child's
  fact("calls", calls);
  fact("handled", handled);
  fact("cancelled", cancelled);
  fact("child", WEXITSTATUS(status));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
