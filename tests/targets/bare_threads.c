// Starts threads without the C library: by clone() alone, on stdin's orders:
//   start N     THREADS of them, which call work() N times each and end; so does the main thread; answers "done"
//   rseq        answers with the processor that the main thread's rseq area names; below 0: none is registered
//   quit        ends with the calls
//   bare_threads shared     they use the main thread's control block (no CLONE_SETTLS)
//   bare_threads processes  they are processes that share its memory and its control block
//   bare_threads foreign    each has a control block of its own making, with data of the program's around it
//   bare_threads edge       one behind which nothing is mapped
//   bare_threads moved      the main thread takes such a block for a while (arch_prctl)
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 4, STACK = 1 << 16, PAGE = 4096, ROOM = 4 * PAGE };
static atomic_long calls;
static atomic_int left;
static long each;
static char* blocks[THREADS];

NOINLINE long work(long pid, long tid, long n) {
  __asm__ volatile("" : : "r"(pid), "r"(tid), "r"(n) : "memory");
  atomic_fetch_add(&calls, 1);
  return n + 1;
}

// Without the C library's errno.
static long bare_syscall(long number) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
  return result;
}

static int call_work(void* unused) {
  const long pid = bare_syscall(SYS_getpid), tid = bare_syscall(SYS_gettid);
  (void)unused;
  for (long n = 0; n < each; n++) {
    if (work(pid, tid, n) != n + 1) abort();
  }
  atomic_fetch_sub(&left, 1);
  return 0;
}

static void* memory(size_t bytes) {
  char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  return at;
}

// A block in the middle of zeros, or at the end of what is mapped.
static void* block_in(char* room, int edge) {
  char* block = room + (edge ? ROOM / 2 - 64 : ROOM / 2);
  if (edge) munmap(room + ROOM / 2, ROOM / 2);
  *(void**)block = block;
  return block;
}

static void start(const char* how) {
  const int processes = strcmp(how, "processes") == 0, own = strcmp(how, "foreign") == 0, edge = strcmp(how, "edge") == 0;
  const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  atomic_store(&left, THREADS + 1);
  for (int i = 0; i < THREADS; i++) {
    int flags = processes ? CLONE_VM | SIGCHLD : thread;
    void* block = NULL;
    if (own || edge) {
      blocks[i] = memory(ROOM);
      block = block_in(blocks[i], edge);
      flags |= CLONE_SETTLS;
    }
    if (clone(call_work, (char*)memory(STACK) + STACK, flags, NULL, NULL, block, NULL) < 0) abort();
  }
  call_work(NULL);
  while (atomic_load(&left) != 0) sched_yield();
  while (processes && wait(NULL) > 0) {
  }
  long changed = 0;
  for (int i = 0; own && i < THREADS; i++) {
    *(void**)(blocks[i] + ROOM / 2) = NULL;
    for (int at = 0; at < ROOM; at++) changed += blocks[i][at] != 0;
  }
  fact("changed", changed);
}

static void move(void) {
  void* before = NULL;
  void* block = block_in(memory(ROOM), 1);
  if (syscall(SYS_arch_prctl, ARCH_GET_FS, &before) != 0) abort();
  const long moved = syscall(SYS_arch_prctl, ARCH_SET_FS, block);
  atomic_store(&left, 1);
  if (moved == 0) call_work(NULL);
  if (moved == 0) syscall(SYS_arch_prctl, ARCH_SET_FS, before);
  fact("moved", moved);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "shared";
  char line[64];
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "start ", 6) == 0) {
      each = atol(line + 6);
      if (strcmp(how, "moved") == 0) {
        move();
      } else {
        start(how);
      }
      fact("done", each);
    } else if (strncmp(line, "rseq", 4) == 0) {
      const struct rseq* area = (const void*)((char*)__builtin_thread_pointer() + __rseq_offset);
      fact("rseq cpu", (int32_t)area->cpu_id);
    } else if (strncmp(line, "quit", 4) == 0) {
      break;
    }
  }
  fact("work calls", calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
