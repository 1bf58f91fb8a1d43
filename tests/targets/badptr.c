// Passes pointers that a script must not be able to hurt the program with.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

struct box {
  long value;
  struct box* inner;
  char name[16];
};

static long calls;

NOINLINE long take(struct box* box, const char* what) {
  calls++;
  return box == NULL ? 0 : (long)what[0];
}

int main(void) {
  long page = sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) abort();
  memset(pages, 'x', (size_t)page * 2);
  struct box good = {.value = 42, .name = "good"};
  good.inner = &good;
  take(&good, "good");
  take(NULL, "null");
  take((struct box*)0x10, "small");
  take((struct box*)0xdead000000000000, "non-canonical");
  take((struct box*)(pages + page - 4), "straddle");
  mprotect(pages + page, (size_t)page, PROT_NONE);
  take((struct box*)(pages + page), "prot-none");
  take((struct box*)(pages + page - 4), "straddle-none");
  munmap(pages, (size_t)page * 2);
  take((struct box*)pages, "unmapped");
  take(&good, "good again");
  fact("take calls", calls);
  fact("value", good.value);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
