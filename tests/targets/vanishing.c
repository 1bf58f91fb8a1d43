// Calls take() with pointers to memory that comes and goes while handlers read it: a page that
// another thread maps and unmaps, and one behind the end of a file that was cut.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

#define PAGE 4096
enum { CALLS = 20000 };

struct box {
  long value;
  char name[16];
};

static char* room;
static atomic_int stop;
static atomic_long rounds;

NOINLINE void take(const struct box* box) { __asm__ volatile("" : : "r"(box)); }
NOINLINE void take_cut(const struct box* box) { __asm__ volatile("" : : "r"(box)); }

static void* come_and_go(void* argument) {
  for (; !stop; rounds++) {
    if (munmap(room, PAGE) != 0) abort();
    if (mmap(room, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        room)
      abort();
    memset(room, 'x', sizeof(struct box) - 1);
  }
  return argument;
}

static const struct box* behind_the_end(void) {
  const int file = memfd_create("cut", 0);
  char bytes[2 * PAGE] = {0};
  if (write(file, bytes, sizeof bytes) != sizeof bytes) abort();
  char* at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED || ftruncate(file, PAGE) != 0) abort();
  return (const struct box*)(at + PAGE);
}

int main(void) {
  pthread_t thread;
  const struct box* cut = behind_the_end();
  room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) abort();
  pthread_create(&thread, NULL, come_and_go, NULL);
  while (rounds == 0) sched_yield();
  for (int i = 0; i < CALLS; i++) take((const struct box*)room);
  stop = 1;
  pthread_join(thread, NULL);
  for (int i = 0; i < 100; i++) take_cut(cut);
  fact("rounds", rounds);
  fact("take calls", CALLS);
  fact("take_cut calls", 100);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
