// Has its own system calls caught (syscall user dispatch) while it calls work(), which makes none.
//   dispatching          work(); dispatch; work(); answers what prctl() said and how many were caught
//   dispatching child    a forked child does the second part
//   dispatching wait     only the second part, when stdin has said so
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

enum { SET_DISPATCH = 59, OFF = 0, ON = 1, CALLS = 100 };
struct box {
  long value;
};
static volatile char selector;  // 0: they are made, 1: they are caught
static volatile long caught;
static long calls;

NOINLINE long work(struct box* box) {
  calls++;
  return box->value + 1;
}

static void on_caught(int number) {
  (void)number;
  selector = 0;
  caught++;
}

static void call_work(void) {
  struct box box = {41};
  for (int i = 0; i < CALLS; i++) {
    if (work(&box) != 42) abort();
  }
}

static void dispatch(int wait) {
  const int failed = prctl(SET_DISPATCH, ON, 0, 0, &selector) != 0 ? errno : 0;
  fact("failed", failed);
  if (wait) getchar();
  selector = failed == 0;
  call_work();
  selector = 0;
  if (failed == 0) prctl(SET_DISPATCH, OFF, 0, 0, 0);
  fact("caught", caught);
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_caught};
  const int child = argc > 1 && strcmp(argv[1], "child") == 0, wait = argc > 1 && strcmp(argv[1], "wait") == 0;
  int status = 0;
  sigaction(SIGSYS, &action, NULL);
  fact("pid", getpid());
  if (!wait) call_work();
  pid_t pid = child ? fork() : 0;
  if (pid == 0) dispatch(wait);
  if (child && pid == 0) _exit(0);
  if (child) waitpid(pid, &status, 0);
  fact("work calls", calls);
  return status != 0;
}
// SPDX-License-Identifier: Apache-2.0
