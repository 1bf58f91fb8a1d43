// A timer signal interrupts the probed function, and its handler calls the same function.
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#include "facts.h"

static atomic_long calls, in_handler, signals;

NOINLINE long work(long n) {
  atomic_fetch_add(&calls, 1);
  return n ^ 1;
}

static void on_alarm(int number) {
  (void)number;
  atomic_fetch_add(&signals, 1);
  atomic_fetch_add(&in_handler, 1);
  work(7);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &every, NULL);
  long total = 0;
  while (atomic_load(&signals) < 500) total += work(total);
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  fact("work calls", calls);
  fact("in handler", in_handler);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
