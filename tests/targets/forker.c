// Parent and children call the same function at the same time; counted through shared memory.
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static atomic_long* calls;

NOINLINE long work(long n) {
  atomic_fetch_add(calls, 1);
  return n + 1;
}

int main(void) {
  calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (calls == MAP_FAILED) abort();
  for (int child = 0; child < 4; child++) {
    if (fork() == 0) {
      for (long i = 0; i < 20000; i++) work(i);
      _exit(0);
    }
  }
  for (long i = 0; i < 20000; i++) work(i);
  long clean = 0;
  for (int child = 0; child < 4; child++) {
    int status = 1;
    wait(&status);
    clean += status == 0;
  }
  fact("work calls", *calls);
  fact("clean children", clean);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
