// Probed functions that leave by swapcontext and come back on another's turn, on stacks of 16 KiB.
#include <stdlib.h>
#include <ucontext.h>

#include "facts.h"

enum { ROUTINES = 5, TURNS = 2000, STACK = 16 * 1024 };
static ucontext_t home, routines[ROUTINES];
static long entered, left, wrong;
static int current;

NOINLINE long yield(long n) {
  entered++;
  swapcontext(&routines[current], &home);
  left++;
  return n * 3;
}

NOINLINE long work(long n) { return yield(n) + 1; }

static void routine(int id) {
  for (long n = id;; n++) {
    if (work(n) != n * 3 + 1) wrong++;
  }
}

int main(void) {
  for (int i = 0; i < ROUTINES; i++) {
    getcontext(&routines[i]);
    routines[i].uc_stack.ss_sp = malloc(STACK);
    routines[i].uc_stack.ss_size = STACK;
    routines[i].uc_link = &home;
    makecontext(&routines[i], (void (*)(void))routine, 1, i);
  }
  for (int turn = 0; turn < TURNS * ROUTINES; turn++) {
    current = turn * 7 % ROUTINES;
    swapcontext(&home, &routines[current]);
  }
  fact("entered", entered);
  fact("left", left);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
