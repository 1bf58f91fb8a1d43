// Threads that sleep in a system call of a function so short that it goes into a detour whole. Each line on stdin
// wakes each of them once: it sleeps again in the same call, or says what is wrong.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 6 };
static int alarm_clock[2];
static atomic_long woken, wrong;

// read(): number 0.
long nap(int fd, char* byte, long bytes);
__asm__(".text\n.p2align 4\n.globl nap\n.type nap,@function\nnap:\n.cfi_startproc\n"
        "xor %eax,%eax\nsyscall\nret\n.cfi_endproc\n.size nap, .-nap\n");

static void* sleeper(void* argument) {
  char byte = 0;
  for (;;) {
    if (nap(alarm_clock[0], &byte, 1) != 1 || byte != 'x') atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&woken, 1);
    while (atomic_load(&woken) % THREADS != 0) usleep(100);  // all others have had theirs
  }
  return argument;
}

int main(void) {
  pthread_t threads[THREADS];
  char line[16];
  if (pipe(alarm_clock) != 0) abort();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, sleeper, NULL);
  fact("pid", getpid());
  for (long lines = 1; fgets(line, sizeof line, stdin); lines++) {
    if (write(alarm_clock[1], "xxxxxx", THREADS) != THREADS) abort();
    while (atomic_load(&woken) != lines * THREADS) usleep(100);
    fact("woken", woken);
  }
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
