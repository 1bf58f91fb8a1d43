// Has done something to its own text before it runs it: for each line on stdin it calls work()
// 1,000 times, and says what its text sums up to.
//   own_text HOW         plain
//                        writable    may be written, too
//                        hidden      may be executed, not read
//                        sealed      may not be changed any more (mseal); as it is where Linux has
//                        none moved       lies in memory without a file, as on huge pages memfd,
//                        shared   lies in another file without a name
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

#define PAGE 4096
#define MSEAL 462  // its number on x86-64

static long calls;
static char* begin;  // of the segment with the code
static size_t bytes;

NOINLINE long work(long n) {
  calls++;
  return n * 2 + 1;
}
NOINLINE long other(long n) { return n + 3; }

static int find_text(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size, (void)argument;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* s = &object->dlpi_phdr[i];
    if (s->p_type != PT_LOAD || (s->p_flags & PF_X) == 0) continue;
    begin = (char*)(object->dlpi_addr + (s->p_vaddr & -PAGE));
    bytes = (s->p_vaddr % PAGE + s->p_memsz + PAGE - 1) & -PAGE;
  }
  return 1;  // the first object is the program
}

static long sum(void) {
  uint32_t result = 1;
  for (size_t i = 0; i < bytes; i++) result = result * 31 + (uint8_t)begin[i];
  return result;
}

static int onto_memfd(int flags) {
  const int file = memfd_create("text", 0);
  if (write(file, begin, bytes) != (ssize_t)bytes) return 1;
  return mmap(begin, bytes, PROT_READ | PROT_EXEC, flags | MAP_FIXED, file, 0) != begin;
}

static int onto_memory(void) {
  char* copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, begin, bytes);
  if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) != 0) return 1;
  return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != begin;
}

static int prepare(const char* how) {
  if (strcmp(how, "writable") == 0)
    return mprotect(begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
  if (strcmp(how, "hidden") == 0) return mprotect(begin, bytes, PROT_EXEC);
  if (strcmp(how, "sealed") == 0) return syscall(MSEAL, begin, bytes, 0), 0;
  if (strcmp(how, "moved") == 0) return onto_memory();
  if (strcmp(how, "memfd") == 0) return onto_memfd(MAP_PRIVATE);
  if (strcmp(how, "shared") == 0) return onto_memfd(MAP_SHARED);
  return strcmp(how, "plain");
}

int main(int argc, char** argv) {
  char line[64];
  dl_iterate_phdr(find_text, NULL);
  if (argc < 2 || prepare(argv[1]) != 0) return 2;
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    for (long i = 0; i < 1000; i++) {
      if (work(i) != 2 * i + 1 || other(i) != i + 3) abort();
    }
    if (strcmp(argv[1], "hidden") != 0) fact("sum", sum());
    fact("calls", calls);
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
