// Signals that come while handlers run for a coroutine and for signal handlers: these call the
// probed function, too, jump out, fork and exit. Nobody's frames may be lost.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "facts.h"

enum { STACK = 256 * 1024, ROUNDS = 10000, JUMPS = 200, FORKS = 20, WORDS = 64 };

static volatile long calls, wrong, forks, jumps, may_jump;
static sigjmp_buf back;

NOINLINE long leaf(long n) {
  __asm__ volatile("lock incq %0" : "+m"(calls));
  return n * 3;
}

// Looks whether its own frame stays as it is.
NOINLINE static void work(long n) {
  volatile long frame[WORDS];
  for (int i = 0; i < WORDS; i++) frame[i] = n + i;
  if (leaf(n) != n * 3) wrong++;
  for (int i = 0; i < WORDS; i++) wrong += frame[i] != n + i;
}

static void on_alarm(int number) {
  work(number);
  if (may_jump == 1 && jumps < JUMPS) {
    jumps++;
    siglongjmp(back, 1);
  }
  if (forks >= FORKS || may_jump) return;
  forks++;
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    for (int i = 0; i < 200; i++) work(i);
    may_jump = -1;  // in the child: it ends where it comes back to
    return;
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) wrong++;
}

static void leave_child(void) {
  if (may_jump == -1) _exit(wrong == 0 ? 0 : 1);
}

static void on_user(int number) {
  (void)number;
  for (int i = 0; i < ROUNDS; i++) {
    work(i);
    leave_child();
  }
}

static void act(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, NULL);
}

static ucontext_t home, routine;

static void on_coroutine(void) {
  for (int i = 0; i < ROUNDS; i++) {
    work(i);
    leave_child();
  }
}

static void run_coroutine(void (*code)(void)) {
  getcontext(&routine);
  routine.uc_stack.ss_sp = malloc(STACK);
  routine.uc_stack.ss_size = STACK;
  routine.uc_link = &home;
  makecontext(&routine, code, 0);
  swapcontext(&home, &routine);
}

static void jump_away(void) {
  sigsetjmp(back, 1);
  __sync_bool_compare_and_swap(&may_jump, 0, 1);  // in a child that was forked here it stays -1
  leave_child();
  while (jumps < JUMPS) work(jumps);
  may_jump = 2;
}

static void start_alarms(long us) {
  const struct itimerval period = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &period, NULL);
}

int main(void) {
  stack_t stack = {.ss_sp = malloc(STACK), .ss_size = STACK};
  sigaltstack(&stack, NULL);
  act(SIGUSR1, on_user, SA_ONSTACK);
  for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
    act(SIGALRM, on_alarm, flags | SA_RESTART);
    forks = jumps = may_jump = 0;
    start_alarms(500);
    run_coroutine(on_coroutine);
    raise(SIGUSR1);  // alarms come on the signal stack above its handler
    run_coroutine(jump_away);
    start_alarms(0);
    for (int i = 0; i < ROUNDS; i++) work(i);
  }
  fact("wrong", wrong);
  fact("calls", calls);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
