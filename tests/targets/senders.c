// Children made in every way, each of which calls work() with a number of its own; who they are they
// say themselves: "child NUMBER PID TID".
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

NOINLINE void work(int who) { __asm__ volatile("" ::"r"(who) : "memory"); }

// Of a process that may share its parent's memory.
static void say(int who) {
  char line[64];
  const int length = snprintf(line, sizeof line, "child %d %ld %ld\n", who, syscall(SYS_getpid), syscall(SYS_gettid));
  if (write(1, line, (size_t)length) < 0) abort();
}

static int run(void* who) {
  work((int)(long)who);
  say((int)(long)who);
  _exit(0);
}

static void await(long pid) {
  if (pid < 0 || waitpid((pid_t)pid, NULL, 0) != pid) abort();
}

static NOINLINE long fork_inside(void) {
  const long pid = fork();
  __asm__ volatile("" ::: "memory");
  return pid;
}

static void forks(int first) {
  for (int way = 0; way < 4; way++) {
    unsigned long args[8] = {0, 0, 0, 0, SIGCHLD};
    const long pid = way == 0   ? fork_inside()
                     : way == 1 ? syscall(SYS_fork)
                     : way == 2 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
                                : syscall(SYS_clone3, args, sizeof args);
    if (pid == 0) run((void*)(long)(first + way));
    await(pid);
  }
}

static void* in_thread(void* first) {
  work((int)(long)first);
  say((int)(long)first);
  forks((int)(long)first + 1);
  return NULL;
}

int main(void) {
  static char stack[1 << 16];
  const int flags[] = {0, CLONE_VM | CLONE_VFORK, CLONE_VM, CLONE_FILES};
  work(1);
  say(1);
  forks(10);
  for (int i = 0; i < 4; i++) await(clone(run, stack + sizeof stack, flags[i] | SIGCHLD, (void*)(long)(20 + i)));
  const pid_t pid = vfork();
  if (pid == 0) run((void*)30);
  await(pid);
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, (void*)40);
  pthread_join(thread, NULL);
  work(2);
  say(2);
}
// SPDX-License-Identifier: Apache-2.0
