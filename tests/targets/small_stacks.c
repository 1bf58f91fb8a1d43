// Calls of a leaf function on stacks whose unused bytes are painted: how far below the leaf's stack
// pointer does somebody else write? Of each kind of stack a fact: the deepest byte in all calls.
//   small_stacks             on stacks of coroutines, with a large signal stack for what traps
//   small_stacks signals     on the smallest signal stacks
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "facts.h"

enum { CALLS = 200, STACK = 64 * 1024, PAINT = 0xa5 };

struct pair {
  long number;
  const char* text;
};
static struct pair pair = {7, "a text of the program's"};
static volatile char* leaf_stack;

// Uses nothing of its stack, the red zone neither.
NOINLINE long leaf(long n, const char* text, double fraction, struct pair* p) {
  __asm__ volatile("movq %%rsp, %0" : "=m"(leaf_stack));
  return n * 3 + (long)fraction + text[0] + p->number;  // LINE:middle
}

static void call_leaf(void) {
  for (long i = 0; i < CALLS; i++) {
    if (leaf(i % 5, pair.text, 1.5, &pair) != i % 5 * 3 + 1 + 'a' + 7) abort();
  }
}

static char* painted(void) {
  char* area = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) abort();
  memset(area, PAINT, STACK);
  return area;
}

static void tell_depth(const char* kind, const char* area) {
  while (*area == (char)PAINT) area++;
  fact(kind, area < (char*)leaf_stack ? (char*)leaf_stack - area : 0);
}

static void on_signal(int number) {
  (void)number;
  call_leaf();
}

// Its lowest byte stands where the neighbour's memory ends.
static void use_signal_stack(char* area, size_t bytes) {
  stack_t stack = {.ss_sp = area + STACK - bytes, .ss_size = bytes};
  if (sigaltstack(&stack, NULL) != 0) abort();
}

static _Thread_local ucontext_t home, routine;

static void on_coroutine(const char* kind) {
  char* area = painted();
  use_signal_stack(painted(), STACK);
  getcontext(&routine);
  routine.uc_stack.ss_sp = area;
  routine.uc_stack.ss_size = STACK;
  routine.uc_link = &home;
  makecontext(&routine, call_leaf, 0);
  swapcontext(&home, &routine);
  tell_depth(kind, area);
}

static void on_signal_stack(const char* kind) {
  char* area = painted();
  use_signal_stack(area, getauxval(AT_MINSIGSTKSZ) + 1024);
  raise(SIGUSR1);
  tell_depth(kind, area);
}

static void run(const char* first, const char* thread) {
  (*first == 'c' ? on_coroutine : on_signal_stack)(thread);
}

static void* in_thread(void* what) {
  run(what, *(char*)what == 'c' ? "coroutine_of_thread" : "signal_stack_of_thread");
  return NULL;
}

int main(int argc, char** argv) {
  char* kind = argc > 1 ? argv[1] : "coroutine";
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  run(kind, *kind == 'c' ? "coroutine" : "signal_stack");
  pthread_t thread;
  if (pthread_create(&thread, NULL, in_thread, kind) != 0 || pthread_join(thread, NULL) != 0)
    abort();
  fact("calls", 2 * CALLS);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
