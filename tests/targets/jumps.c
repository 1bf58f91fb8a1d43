// longjmp out of the probed functions, and siglongjmp out of a timer's handler that interrupts them
// anywhere.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "facts.h"

static jmp_buf back;
static sigjmp_buf out;
static long thrown, returned;
static volatile long attempts, entered, alarms;

NOINLINE long thrower(long n) {
  thrown++;
  if (n % 3 == 0) longjmp(back, 1);
  returned++;
  return n;
}

NOINLINE long middle(long n) { return thrower(n) + 1; }

NOINLINE void work(void) { entered = entered + 1; }

static void on_alarm(int number) {
  (void)number;
  alarms = alarms + 1;
  siglongjmp(out, 1);
}

int main(void) {
  volatile long sum = 0;
  for (volatile long i = 0; i < 30000; i++) {
    if (setjmp(back) == 0) sum += middle(i);
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 300}, {0, 300}};
  sigsetjmp(out, 1);
  setitimer(ITIMER_REAL, &every, NULL);
  while (alarms < 1000) {
    attempts = attempts + 1;
    work();
  }
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  fact("thrown", thrown);
  fact("returned", returned);
  fact("attempts", attempts);
  fact("entered", entered);
  fact("alarms", alarms);
  return sum > 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
