// Tells a probed function who it is, from threads that use each other's control blocks, forked and vforked children.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static long* calls;  // shared with the children

NOINLINE void here(long pid, long tid) {
  __asm__ volatile("" : : "r"(pid), "r"(tid) : "memory");
  __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
}

static void tell(void) {
  for (int i = 0; i < 10; i++) here(syscall(SYS_getpid), syscall(SYS_gettid));
}

static void* thread(void* unused) {
  tell();
  return unused;
}

static void one_round(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    tell();
    thread(NULL);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  if (vfork() == 0) {
    here(syscall(SYS_getpid), syscall(SYS_gettid));
    _exit(0);
  }
  tell();
}

int main(void) {
  calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (calls == MAP_FAILED) abort();
  for (int i = 0; i < 30; i++) one_round();
  fact("here calls", *calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
