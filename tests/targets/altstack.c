// A signal handler that calls the probed function on the smallest alternate stack that holds one
// signal frame. altstack WORD: says WORD and waits for a line; with one more word, it has that stack
// behind the line only.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

static volatile long calls;

void short_ret(void);  // short.S: the jump over it has bytes of the next function
int short_zero(void);
int short_two(int n);
int dense_work(int rounds);  // dense.S

NOINLINE long work(long n) {
  calls = calls + 1;
  return n + 1;
}

static char* top;                // of the alternate stack
static volatile size_t deepest;  // what one signal frame takes

static void on_signal(int number) {
  char here;
  deepest = (size_t)(top - &here);
  short_ret();
  if (work(number) != number + 1 || short_zero() != 0) abort();
  if (dense_work(5) != 33) abort();
  if (short_two(number) != 3 * (number + 1) || short_two(0) != 0) abort();
}

// The stack's lowest byte stands behind a page that nobody may touch.
static void use_stack(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  char* area = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED || mprotect(area, page, PROT_NONE) != 0) abort();
  top = area + page + bytes;
  stack_t stack = {area + page, 0, bytes};
  if (sigaltstack(&stack, NULL) != 0) abort();
}

int main(int argc, char** argv) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  use_stack(1 << 16);
  raise(SIGUSR1);
  if (argc < 3) use_stack(deepest + 1024);
  if (argc > 1) {
    fact(argv[1], getpid());
    if (getchar() < 0) return 1;
  }
  if (argc > 2) use_stack(deepest + 1024);
  for (int i = 1; i < 1000; i++) raise(SIGUSR1);
  fact("calls", calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
