// More threads than djtap has rows for at one time, one after the other, forked children among
// them, all calling work(); signals every 200 us call it too.
//   rows [THREADS] [BASE]   BASE 1: first the gs base leads to a word of our own, until the end;
//                           2: we make it so after five calls, and say what the kernel answers;
//                           3: a forked child tries to
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

enum { CALLS = 3, AT_ONCE = 8 };
static atomic_long* calls;  // shared with the children
static long own[16] = {4711};

NOINLINE long work(long n) {
  atomic_fetch_add(calls, 1);
  return n + 1;
}

static void* brief(void* unused) {
  for (long i = 0; i < CALLS; i++) work(i);
  return unused;
}

static void on_tick(int number) { work(number); }

static long word_at_gs(void) {
  long word;
  __asm__ volatile("movq %%gs:0, %0" : "=r"(word));
  return word;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 100;
  const int has_base = argc > 2 && atoi(argv[2]) == 1;
  calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (calls == MAP_FAILED) abort();
  if (has_base && syscall(SYS_arch_prctl, ARCH_SET_GS, own) != 0) abort();
  fact("pid", getpid());
  if (has_base) getchar();  // until somebody has attached
  const int late = argc > 2 && atoi(argv[2]) == 2;
  for (long i = 0; late && i < 5; i++) work(i);
  if (late || (argc > 2 && atoi(argv[2]) == 3 && fork() == 0)) {
    fact("refused", syscall(SYS_arch_prctl, ARCH_SET_GS, own) != 0 ? errno : 0);
    if (!late) _exit(0);
  }
  while (waitpid(-1, NULL, 0) > 0) {
  }
  struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &tick, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int begun = 0; begun < threads; begun += AT_ONCE) {
    pthread_t all[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) pthread_create(&all[i], NULL, brief, NULL);
    if (begun % 100 == 0) {
      pid_t child = fork();
      if (child == 0) {
        for (long i = 0; i < 1000; i++) work(i);
        _exit(0);
      }
      while (waitpid(child, NULL, 0) < 0) {
      }
    }
    for (int i = 0; i < AT_ONCE; i++) pthread_join(all[i], NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  fact("work calls", *calls);
  if (has_base || late) fact("word at gs", word_at_gs());
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
