// What programs do with SIGTRAP themselves: block it, ignore it, wait for it, handle it; with
// probed calls meanwhile.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static volatile long calls, handled, waited;

NOINLINE long work(long n) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  return n;
}

static void some_work(void) {
  for (long i = 0; i < 1000; i++) work(i);
}

static void on_trap(int number) {
  (void)number;
  handled = handled + 1;
  work(1);
}

static void* blocked(void* argument) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  some_work();
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return argument;
}

static int own_handler(void) {
  struct sigaction seen;
  sigaction(SIGTRAP, NULL, &seen);
  return seen.sa_handler == on_trap;
}

// A forked child handles what its parent does not; its vfork child's changes are that one's own.
static int own_in_child(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_trap;
  pid_t child = fork();
  if (child == 0) {
    sigaction(SIGTRAP, &action, NULL);
    some_work();
    if (vfork() == 0) {
      signal(SIGTRAP, SIG_DFL);
      _exit(0);
    }
    raise(SIGTRAP);
    if (fork() == 0) {
      raise(SIGTRAP);
      _exit(handled == 2 && own_handler() ? 6 : 1);
    }
    int status = 0;
    while (wait(&status) > 0 && WEXITSTATUS(status) == 0) continue;
    _exit(handled == 1 && own_handler() && WEXITSTATUS(status) == 6 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 && !own_handler();
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  some_work();
  pthread_t thread;
  pthread_create(&thread, NULL, blocked, NULL);
  some_work();
  pthread_join(thread, NULL);

  const int in_child = own_in_child();
  action.sa_handler = SIG_IGN;
  sigaction(SIGTRAP, &action, NULL);
  some_work();
  raise(SIGTRAP);

  action.sa_handler = on_trap;
  sigaction(SIGTRAP, &action, NULL);
  some_work();
  for (int i = 0; i < 100; i++) raise(SIGTRAP);
  struct sigaction seen;
  sigaction(SIGTRAP, NULL, &seen);

  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGUSR1);
  sigprocmask(SIG_BLOCK, &trap, NULL);
  raise(SIGUSR1);
  some_work();
  int number = 0;
  sigwait(&trap, &number);
  waited = number == SIGUSR1;
  fact("calls", calls);
  fact("handled", handled);
  fact("waited", waited);
  fact("own handler", seen.sa_handler == on_trap);
  fact("own in child", in_child);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
