// Denies itself system calls while it runs, as programs do that sandbox themselves, and calls
// work() 500 times for each line on stdin; its first thread, another one and, where that may still
// be forked, a child.
//   sandboxed HOW        prctl, seccomp, tsync, strict: a filter that knows read, write, exit,
//   futex,
//                        rt_sigreturn (but with "noreturn"), and clone and wait4 with "forks"; only
//                        the first line is read before; with "child" a child of each line has it
//   sandboxed address    a filter that knows all calls, but none from the lowest 4 GB, where
//   detours
//                        may be
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

#define ALLOW(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ALLOW_IF(asked, number)                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, (asked) ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS)

static long calls;
static pthread_barrier_t begin, end;
static const char* text = "seen";

NOINLINE void work(const char* what, long tid) {
  __asm__ volatile("" : : "r"(what), "r"(tid));
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void* run(void* argument) {
  const long tid = syscall(SYS_gettid);
  for (;;) {
    pthread_barrier_wait(&begin);
    for (int i = 0; i < 500; i++) work(text, tid);
    pthread_barrier_wait(&end);
  }
  return argument;
}

static void deny(const char* how) {
  const int returns = strcmp(how, "noreturn") != 0, forks = strcmp(how, "forks") == 0;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_read),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_futex),
      ALLOW_IF(returns, SYS_rt_sigreturn),
      ALLOW_IF(forks, SYS_clone),
      ALLOW_IF(forks, SYS_wait4),
      ALLOW_IF(forks, SYS_set_robust_list),
      ALLOW_IF(forks, SYS_rseq),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_filter low[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (strcmp(how, "address") == 0) program = (struct sock_fprog){sizeof low / sizeof *low, low};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) abort();
  long failed = 0;
  if (strcmp(how, "strict") == 0)
    failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  else if (strcmp(how, "seccomp") == 0)
    failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  else if (strcmp(how, "tsync") == 0)
    failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  else
    failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  if (failed != 0) abort();
}

// Each as one write, so that strict mode knows it.
static void say(const char* words) {
  if (write(1, words, strlen(words)) < 0) _exit(3);
}

int main(int argc, char** argv) {
  char input[64];
  pthread_t thread;
  if (argc < 2) return 2;
  const long tid = syscall(SYS_gettid);
  pthread_barrier_init(&begin, NULL, 2);
  pthread_barrier_init(&end, NULL, 2);
  const int is_strict = strcmp(argv[1], "strict") == 0;
  if (!is_strict) pthread_create(&thread, NULL, run, NULL);  // it could not end the process there
  fact("pid", getpid());
  if (read(STDIN_FILENO, input, sizeof input) <= 0) return 1;
  const int of_child = strcmp(argv[1], "child") == 0;
  if (!of_child) deny(argv[1]);
  say("denied: 1\n");
  while (read(STDIN_FILENO, input, sizeof input) > 0) {
    if (!is_strict) pthread_barrier_wait(&begin);
    for (int i = 0; i < 500; i++) work(text, tid);
    if (!is_strict) pthread_barrier_wait(&end);
    if (of_child || strcmp(argv[1], "forks") == 0) {
      int status = -1;
      const pid_t child = fork();
      if (child == 0) {
        if (of_child) deny("prctl");
        for (int i = 0; i < 500; i++) work(text, -1);
        _exit(0);
      }
      if (waitpid(child, &status, 0) != child || status != 0) _exit(4);
    }
    const long expected = is_strict ? 500 : 1000;
    say(calls == expected ? "calls: 1\n" : "calls: 2\n");
    calls = 0;
  }
  if (is_strict) syscall(SYS_exit, 0);
  _exit(0);
}
// SPDX-License-Identifier: Apache-2.0
