// Denies itself system calls before anybody looks, and then calls work() 500 times in each of two
// threads for each line on stdin.
//   confined WHO HOW NUMBER...   WHO: all (both threads), worker (the second one alone)
//                                HOW: kill, trap, errno for these system calls; strict
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

enum { kMostNumbers = 32 };

static int numbers;
static char** number;
static const char* how;
static long calls;
static int to_worker[2], from_worker[2];

NOINLINE void work(const char* text, long tid) {
  __asm__ volatile("" : : "r"(text), "r"(tid));
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void confine(void) {
  struct sock_filter code[2 * kMostNumbers + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short length = 1;
  const unsigned action = strcmp(how, "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                          : strcmp(how, "trap") == 0 ? SECCOMP_RET_TRAP
                                                     : SECCOMP_RET_ERRNO | 1;
  for (int i = 0; i < numbers && i < kMostNumbers; i++) {
    const unsigned denied = (unsigned)atoi(number[i]);
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) abort();
  if (strcmp(how, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
                                 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    abort();
}

// Pipes alone, which strict mode knows.
static void* run(void* confined) {
  const long tid = syscall(SYS_gettid);
  char c;
  if (confined != NULL) confine();
  while (write(from_worker[1], "", 1) == 1 && read(to_worker[0], &c, 1) == 1 && c != 'q')
    for (int i = 0; i < 500; i++) work("seen", tid);
  syscall(SYS_exit, 0);
  return NULL;
}

static void say(const char* words) {
  if (write(1, words, strlen(words)) < 0) syscall(SYS_exit, 3);
}

int main(int argc, char** argv) {
  char input[64];
  pthread_t thread;
  if (argc < 3) return 2;
  const int all = strcmp(argv[1], "all") == 0;
  how = argv[2], number = argv + 3, numbers = argc - 3;
  const long tid = syscall(SYS_gettid);
  if (pipe(to_worker) != 0 || pipe(from_worker) != 0) return 1;
  fact("pid", getpid());
  pthread_create(&thread, NULL, run, argv);
  if (read(from_worker[0], input, 1) != 1) return 1;
  if (all) confine();
  say("confined: 1\n");
  while (read(STDIN_FILENO, input, sizeof input) > 0) {
    if (write(to_worker[1], "", 1) != 1) return 1;
    for (int i = 0; i < 500; i++) work("seen", tid);
    if (read(from_worker[0], input, 1) != 1) return 1;
    say(calls == 1000 ? "calls: 1\n" : "calls: 2\n");
    calls = 0;
  }
  if (strcmp(how, "strict") != 0) return 0;
  if (write(to_worker[1], "q", 1) == 1) syscall(SYS_exit, 0);
}
// SPDX-License-Identifier: Apache-2.0
