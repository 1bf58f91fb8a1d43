// A program whose work goes on in children; does on stdin's orders:
//   call N      calls work(), dense_work() and the functions of short.S N times; answers "called N"
//               and how many rounds dense_work() has made
//   loop N      calls short_loop() once, which goes round N times; answers "looped N"
//   crowd N     calls work() N times in each of four threads; answers "crowd N"
//   fork        from here on its child takes the orders; the parent waits for it
//   leave       as fork, but the parent ends at once
//   quit        ends
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

void short_ret(void);  // short.S: less than five bytes apart
int short_zero(void);
int short_same(int n);
int short_loop(int n);
int dense_work(int rounds);  // dense.S

NOINLINE long work(long n) {
  return n * 2;
}

static void call(long n) {
  const int rounds = 5, odd = 3;
  for (long i = 0; i < n; i++) {
    if (dense_work(rounds) != rounds * (rounds + 1) + odd) abort();
    if (work(i) != 2 * i) abort();
    short_ret();
    if (short_zero() != 0 || short_same((int)i) != i) abort();
  }
  fact("rounds", rounds * n);
  fact("odd rounds", odd * n);
  fact("called", n);
}

static void* call_work(void* times) {
  for (long i = 0; i < (long)times; i++) {
    if (work(i) != 2 * i) abort();
  }
  return NULL;
}

static void crowd(long n) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call_work, (void*)n);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  fact("crowd", n);
}

static void loop(int rounds) {
  if (short_loop(rounds) != rounds * (rounds + 1) / 2) abort();
  fact("looped", rounds);
}

static void hand_over(int stay) {
  int status = 1;
  pid_t child = fork();
  if (child == 0) {
    fact("child", getpid());
    return;
  }
  if (stay) waitpid(child, &status, 0);
  _exit(stay ? status != 0 : 0);
}

int main(void) {
  char line[64];
  setvbuf(stdin, NULL, _IONBF, 0);
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "call ", 5) == 0) call(atol(line + 5));
    if (strncmp(line, "crowd ", 6) == 0) crowd(atol(line + 6));
    if (strncmp(line, "loop ", 5) == 0) loop(atoi(line + 5));
    if (strcmp(line, "fork\n") == 0) hand_over(1);
    if (strcmp(line, "leave\n") == 0) hand_over(0);
    if (strcmp(line, "quit\n") == 0) break;
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
