// Preloaded into djtap: what it writes into one page of another process, as WRITE_GATE says:
//   "PAGE fail N M"      the N-th to the M-th write fail
//   "PAGE wait N FILE"   the N-th write waits until there is such a file
// PAGE is an address in it, in hex.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BITS = 12 };
static int seen;

static void wait_for(const char* file) {
  dprintf(STDERR_FILENO, "a write waits\n");
  while (access(file, F_OK) != 0) usleep(1000);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
  ssize_t (*const next)(int, const void*, size_t, off_t) =
      (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  const char* const gate = getenv("WRITE_GATE");
  long page;
  int first;
  char what[8], until[256];
  if (!gate || sscanf(gate, "%lx %7s %d %255s", &page, what, &first, until) != 4) abort();
  if (at >> PAGE_BITS != page >> PAGE_BITS) return next(fd, bytes, count, at);
  seen++;
  if (strcmp(what, "wait") == 0 && seen == first) wait_for(until);
  if (strcmp(what, "fail") != 0 || seen < first || seen > atoi(until))
    return next(fd, bytes, count, at);
  dprintf(STDERR_FILENO, "a write fails\n");
  errno = EIO;
  return -1;
}
// SPDX-License-Identifier: Apache-2.0
