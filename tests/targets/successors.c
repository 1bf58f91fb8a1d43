// Threads that call work() a few times, start their successor and end: eight at once, for 0.3 s.
// In work() a loop begins within the bytes of a jump, and each turn arrives there.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

enum { AT_ONCE = 8, CALLS = 4, TURNS = 3, STACK = 65536 };
static atomic_long calls, live = AT_ONCE;
static atomic_int stop;
static pthread_attr_t brief;

long work(long n, long turns);
__asm__(
    ".text\n.globl work\n.type work, @function\n"
    "work: mov %rdi, %rax\n"
    "1: dec %rsi\n"
    "jnz 1b\n"
    "lea 1(%rax, %rax), %rax\n"
    "ret\n.size work, . - work\n");

static void* one(void* argument) {
  pthread_t next;
  for (long i = 0; i < CALLS; i++) {
    if (work(i, TURNS) != i * 2 + 1) abort();
  }
  atomic_fetch_add(&calls, CALLS);
  while (!stop) {
    if (pthread_create(&next, &brief, one, NULL) == 0) return argument;
  }
  atomic_fetch_sub(&live, 1);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_attr_init(&brief);
  pthread_attr_setdetachstate(&brief, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&brief, STACK);
  for (int i = 0; i < AT_ONCE; i++) {
    if (pthread_create(&thread, &brief, one, NULL) != 0) abort();
  }
  usleep(300000);
  stop = 1;
  while (live > 0) usleep(1000);
  fact("work calls", calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
