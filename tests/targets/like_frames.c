// SPDX-License-Identifier: Apache-2.0
// A stack full of what looks like signal frames and is the program's own: words that are the restorer's address, and
// between them random ones, of which many are what a frame would have there. Ends at a line on stdin, and says how many
// words have changed.
//   like_frames SEED
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

enum { WORDS = 1 << 15 };
static uint64_t kept[WORDS];
static volatile int calls;

NOINLINE int work(int n) {
  calls++;
  return n + 1;
}

static void nothing(int signal) { (void)signal; }

static uint64_t restorer(void) {
  struct {
    void* handler;
    uint64_t flags, restorer, mask;
  } action = {0};
  signal(SIGUSR1, nothing);
  syscall(SYS_rt_sigaction, SIGUSR1, NULL, &action, 8);
  return action.restorer;
}

static void fill(uint64_t* words) {
  const uint64_t likely[] = {restorer(), ~UINT64_C(0), 0, 7, 0x2b000000000033, (uint64_t)work, (uint64_t)&words[WORDS / 2]};
  for (int i = 0; i < WORDS; i++) {
    const int which = rand() % 10;
    words[i] = which < 7 ? likely[which] : (uint64_t)rand() << 33 | (uint64_t)rand();
  }
}

int main(int argc, char** argv) {
  uint64_t words[WORDS];
  int changed = 0;
  srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  fill(words);
  memcpy(kept, words, sizeof kept);
  fact("pid", getpid());
  for (struct pollfd in = {STDIN_FILENO, POLLIN, 0}; poll(&in, 1, 1) == 0;) work(1);
  for (int i = 0; i < WORDS; i++) changed += ((volatile uint64_t*)words)[i] != kept[i];
  fact("calls", calls);
  fact("changed", changed);
  return changed != 0;
}
