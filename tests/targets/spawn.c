// system, posix_spawn, vfork, fork and pthread_create in loops, while signals are blocked inside them.
//   spawn [ROUNDS]
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

extern char** environ;
static atomic_long works, good;

NOINLINE long work(long n) {
  atomic_fetch_add(&works, 1);
  return n;
}

static void* thread_main(void* argument) {
  work((long)argument);
  return NULL;
}

static int wait_for(pid_t pid) {
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void one_round(long round) {
  char* const arguments[] = {"sh", "-c", "exit 3", NULL};
  pid_t pid = 0;
  good += WEXITSTATUS(system("exit 5")) == 5;
  good += posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ) == 0 && wait_for(pid) == 3;
  pid = vfork();
  if (pid == 0) {
    work(round);  // the child of vfork shares memory: its call counts
    execv("/bin/true", (char* const[]){"true", NULL});
    _exit(127);
  }
  good += wait_for(pid) == 0;
  pid = fork();
  if (pid == 0) _exit((int)work(9));
  atomic_fetch_add(&works, 1);  // the child counted in its own copy
  good += wait_for(pid) == 9;
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread_main, (void*)i);
  for (int i = 0; i < 4; i++) good += pthread_join(threads[i], NULL) == 0;
  FILE* pipe = popen("echo hello", "r");
  char line[16] = "";
  good += pipe && fgets(line, sizeof line, pipe) && line[0] == 'h';
  good += pipe && pclose(pipe) == 0;
}

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 20;
  for (long round = 0; round < rounds; round++) one_round(round);
  fact("rounds", rounds);
  fact("good", good);
  fact("work calls", works);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
