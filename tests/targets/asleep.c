// A thread that sleeps in a function called from the first bytes of through(): its return address lies where a
// jump would be. Each line on stdin wakes it once.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

static int alarm_clock[2];

// push; a call of two bytes; then one-byte instructions: the call returns to the fourth byte.
long through(long (*callee)(void));
__asm__(".text\n.p2align 4\n.globl through\n.type through,@function\nthrough:\n"
        ".cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\ncall *%rdi\npop %rbx\n.cfi_adjust_cfa_offset -8\n"
        "inc %rax\nret\n.cfi_endproc\n.size through, .-through\n");

static long nap(void) {
  char byte;
  return read(alarm_clock[0], &byte, 1) == 1 ? 41 : -1;
}

static void* sleeper(void* argument) {
  (void)argument;
  for (long woken = 1;; woken++) {
    if (through(nap) != 42) abort();
    fact("woken", woken);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  char line[16];
  if (pipe(alarm_clock) != 0) abort();
  pthread_create(&thread, NULL, sleeper, NULL);
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (write(alarm_clock[1], "x", 1) != 1) abort();
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
