// Processes that ask to be traced by their parent, as debuggers start programs.
//   tracees vfork | fork     the child executes /bin/true
//   tracees works            the forked child stops itself, then works
//   tracees self             the program itself asks, works, and sends itself a signal
//   tracees searches         the vfork child looks for its program in two folders
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

static long calls, handled;

NOINLINE int work(int x) {
  calls++;
  return x + 1;
}

static void on_signal(int number) { handled += number == SIGUSR1; }

// Swallows each SIGTRAP, as a debugger does with its own.
static int trace(pid_t child) {
  int status = 0, stops = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) && stops < 100) {
    const int number = WSTOPSIG(status);
    stops++;
    ptrace(PTRACE_CONT, child, 0, number == SIGTRAP || number == SIGSTOP ? 0 : number);
  }
  fact("stops", stops);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void executes(int searches) {
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  work(1);
  if (searches) execl("/nowhere/true", "true", (char*)0);
  work(2);
  execl("/bin/true", "true", (char*)0);
  _exit(9);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 5; i++) work(i);
  pid_t child = -1;
  if (strcmp(how, "vfork") == 0 || strcmp(how, "searches") == 0) {
    child = vfork();
    if (child == 0) executes(how[0] == 's');
  } else if (strcmp(how, "fork") == 0) {
    child = fork();
    if (child == 0) executes(0);
  } else if (strcmp(how, "works") == 0) {
    child = fork();
    if (child == 0) {
      const long asked = ptrace(PTRACE_TRACEME, 0, 0, 0);
      raise(SIGSTOP);
      for (int i = 0; i < 7; i++) work(i);
      _exit(asked == 0 ? 3 : 4);
    }
  } else {
    fact("asked", ptrace(PTRACE_TRACEME, 0, 0, 0));
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 9; i++) work(i);
    raise(SIGUSR1);
  }
  if (child > 0) fact("child", trace(child));
  fact("calls", calls);
  fact("handled", handled);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
