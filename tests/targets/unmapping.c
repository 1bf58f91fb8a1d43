// Takes a page of its own text away while it runs. Two threads take orders from stdin, so that one
// of them may stand: u unmaps the page of work(), q ends.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

#define PAGE 4096
#define ALIGNED __attribute__((aligned(PAGE)))

ALIGNED NOINLINE long work(long n) {
  return n * 3 + 1;
}
// In the next page.
ALIGNED NOINLINE long other(long n) {
  return n + 2;
}

static void* obey(void* argument) {
  char order;
  while (read(STDIN_FILENO, &order, 1) == 1) {
    if (order == 'u') fact("unmapped", munmap((void*)work, PAGE) == 0);
    if (order == 'q') exit(other(40) == 42 ? 0 : 1);
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  if (work(1) != 4) abort();
  pthread_create(&thread, NULL, obey, NULL);
  fact("pid", getpid());
  obey(NULL);
  pthread_join(thread, NULL);
  return 1;
}
// SPDX-License-Identifier: Apache-2.0
