// Never stays as it is, until SIGTERM; for attaching and detaching meanwhile.
//   restless threads     threads that live some microseconds, up to 50 at once
//   restless forks       children that call work() and end, some of them with children of their own
//   restless spawns      vfork, posix_spawn and system
//   restless headless    one thread calls work(); the first one has ended
//   restless execs       executes itself again and again, from a thread that is not the first
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

extern char** environ;
static volatile sig_atomic_t stop;
static atomic_long rounds, wrong;

NOINLINE long work(long n) {
  return n + 1;
}

static void* brief(void* argument) {
  long n = (long)argument;
  if (work(n) != n + 1) atomic_fetch_add(&wrong, 1);
  return NULL;
}

static void some_threads(void) {
  pthread_t threads[50];
  for (long i = 0; i < 50; i++) wrong += pthread_create(&threads[i], NULL, brief, (void*)i) != 0;
  for (long i = 0; i < 50; i++) pthread_join(threads[i], NULL);
}

static void child(void) {
  for (long i = 0; i < 100; i++) {
    if (work(i) != i + 1) _exit(1);
  }
  _exit(0);
}

static void some_forks(void) {
  int status = 1;
  for (int i = 0; i < 4; i++) {
    if (fork() == 0) {
      if (i == 0 && fork() == 0) child();
      if (i == 0) wait(NULL);
      child();
    }
  }
  for (int i = 0; i < 4; i++) {
    wait(&status);
    wrong += status != 0;
  }
}

static void some_spawns(void) {
  char* words[] = {"true", NULL};
  int status = 1;
  pid_t pid = vfork();
  if (pid == 0) {
    execve("/bin/true", words, environ);
    _exit(1);
  }
  wrong += waitpid(pid, &status, 0) != pid || status != 0;
  wrong += posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) != 0;
  wrong += waitpid(pid, &status, 0) != pid || status != 0;
  wrong += system("true") != 0;
  work(1);
}

static void* again(void* self) {
  char* words[] = {self, "execs", "again", NULL};
  for (long i = 0; i < 2000; i++) work(i);
  execv(self, words);
  return NULL;
}

static void* all_alone(void* argument) {
  for (; !stop; rounds++) wrong += work(rounds) != rounds + 1;
  fact("rounds", rounds);
  fact("wrong", wrong);
  exit(wrong != 0);
  return argument;
}

static void on_term(int number) {
  (void)number;
  stop = 1;
}

int main(int argc, char** argv) {
  pthread_t thread;
  if (argc < 2) return 2;
  signal(SIGTERM, on_term);
  if (argc == 2) fact("pid", getpid());
  if (strcmp(argv[1], "execs") == 0) {
    signal(SIGTERM, SIG_DFL);
    pthread_create(&thread, NULL, again, argv[0]);
    pthread_exit(NULL);
  }
  if (strcmp(argv[1], "headless") == 0) {
    pthread_create(&thread, NULL, all_alone, NULL);
    pthread_exit(NULL);
  }
  for (; !stop; rounds++) {
    if (strcmp(argv[1], "threads") == 0) some_threads();
    if (strcmp(argv[1], "forks") == 0) some_forks();
    if (strcmp(argv[1], "spawns") == 0) some_spawns();
  }
  fact("rounds", rounds);
  fact("wrong", wrong);
  return wrong != 0;
}
// SPDX-License-Identifier: Apache-2.0
