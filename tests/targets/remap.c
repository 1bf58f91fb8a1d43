// Maps a page of its own code a second time and runs a function there too, as V8 does with its
// builtins. On stdin's lines: maps it; calls it at both places.
//   remap [shared]       the second mapping is MAP_SHARED
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

#define PAGE 4096
extern const char __executable_start[];

#define ALIGNED __attribute__((aligned(PAGE)))

ALIGNED NOINLINE long work(long n) {
  n = n * 3 + 1;
  __asm__ volatile("nop; nop; nop; nop; nop");  // room for two jumps
  return n;
}
// Elsewhere: the copy does not have it.
ALIGNED NOINLINE long other(long n) {
  return n + 2;
}

static void* copy_of(const void* code, int flags) {
  const int file = open("/proc/self/exe", O_RDONLY);
  const long offset = (const char*)code - __executable_start;  // code lies as in the file
  void* at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, flags, file, offset);
  if (file < 0 || at == MAP_FAILED) abort();
  return at;
}

int main(int argc, char** argv) {
  const int flags = argc > 1 && argv[1][0] == 's' ? MAP_SHARED : MAP_PRIVATE;
  long (*const twin)(long) = (long (*)(long))copy_of((const void*)work, flags);
  fact("pid", getpid());
  if (getchar() < 0) return 1;
  long calls = 0;
  for (long i = 0; i < 300; i++, calls++) {
    if (work(i) != 3 * i + 1 || other(i) != i + 2) abort();
  }
  for (long i = 0; i < 200; i++, calls++) {
    if (twin(i) != 3 * i + 1) abort();
  }
  fact("calls", calls);
  return getchar() < 0;
}
// SPDX-License-Identifier: Apache-2.0
