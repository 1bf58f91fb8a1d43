// Starts other programs in every way that there is, and children of its own.
//   starter            starts programs, and says how many have been executed
//   starter children   forks two children that wait, and works until it gets a signal
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

extern char** environ;

NOINLINE int work(int n) {
  __asm__ volatile("");
  return n + 1;
}

static char* const kTrue[] = {"true", NULL};

static void wait_for(pid_t pid) { waitpid(pid, NULL, 0); }

static void fork_and_search(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    setenv("PATH", "/nowhere:/sbin/nowhere:/usr/bin:/bin", 1);
    execvp("true", kTrue);
    _exit(127);
  }
  wait_for(pid);
}

static void fork_and_fail(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    execv("/nowhere/true", kTrue);
    _exit(work(126));
  }
  wait_for(pid);
}

static void vfork_and_execute(void) {
  const pid_t pid = vfork();
  if (pid == 0) {
    execv("/bin/true", kTrue);
    _exit(127);
  }
  wait_for(pid);
}

static void spawn(void) {
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/true", NULL, NULL, kTrue, environ) != 0) abort();
  wait_for(pid);
}

// A file that is no program goes to the shell (execvp(3)): two calls, one process.
static void fork_for_a_script(const char* path) {
  const pid_t pid = fork();
  if (pid == 0) {
    char* const words[] = {"script", NULL};
    execvp(path, words);
    _exit(127);
  }
  wait_for(pid);
}

static int be_a_parent(void) {
  for (int i = 0; i < 2; i++) {
    if (fork() == 0) {
      for (;;) pause();
    }
  }
  puts("ready");
  fflush(stdout);
  for (int n = 0;; n = work(n)) usleep(1000);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "children") == 0) return be_a_parent();
  work(0);
  fork_and_search();
  fork_and_fail();
  vfork_and_execute();
  spawn();
  if (argc > 1) fork_for_a_script(argv[1]);
  if (system("exit 0") != 0) abort();
  fact("executed", argc > 1 ? 5 : 4);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
