// SPDX-License-Identifier: Apache-2.0
// C programs that execute others, and that are executed. (Tests only.)
#pragma once

namespace dj {

// Does `argv[1]` to `argv[2]`. Says the number of the thread that is to execute it, and waits for a
// line before.
constexpr char kCaller[] = R"(
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static char* program;
static volatile int signals;
static void count(int signal) { signals++; }
static void announce(void) {
  char c;
  dprintf(1, "%d\n", gettid());
  while (read(0, &c, 1) != 1 || c != '\n') {}
}
static void* execute(void* p) { announce(); execl(program, program, (char*)0); return p; }
static int report(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  dprintf(1, "exit %d signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return 0;
}
int main(int argc, char** argv) {
  const char* how = argv[1];
  program = argv[2];
  pthread_t thread;
  signal(SIGUSR1, count);
  if (!strcmp(how, "thread")) { pthread_create(&thread, 0, execute, 0); for (;;) pause(); }
  if (!strcmp(how, "both")) { pthread_create(&thread, 0, execute, 0); sleep(1); announce(); return 1; }
  if (!strcmp(how, "vfork")) {
    pid_t child = vfork();
    if (child == 0) { execute(0); _exit(127); }
    return report(child);
  }
  if (!strcmp(how, "spawn")) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    char* words[] = {program, 0};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 9, argv[3], O_RDONLY, 0);
    dprintf(1, "spawns\n");
    if (posix_spawn(&child, program, &actions, 0, words, environ) != 0) return 1;
    return report(child);
  }
  execute(0);
  int number = errno, poll = epoll_create1(0);
  struct epoll_event event;
  int events = epoll_wait(poll, &event, 1, 300);
  dprintf(1, "errno %d events %d signals %d\n", number, events, signals);
  return 0;
})";

// Says what it is: a sum, its tracer, signals that it has got from the program before.
constexpr char kExecuted[] = R"(
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __thread int own = 7;
__attribute__((constructor)) static void early(void) {
  if (getenv("MARK")) fclose(fopen(getenv("MARK"), "w"));
}
int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 1000; i++) sum = sum * 31 + i;
  char line[200], tracer[50] = "";
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status)) sscanf(line, "TracerPid: %49s", tracer);
  sigset_t pending;
  sigpending(&pending);
  printf("sum %u tracer %s usr2 %d rt %d\n", sum, tracer, sigismember(&pending, SIGUSR2), sigismember(&pending, SIGRTMIN + 1));
  fflush(stdout);
  return own;
})";
constexpr char kSum[] = "sum 562641396 tracer 0 usr2 0 rt 0";

}  // namespace dj
