// Threads that call work() all the time, and can be held in a signal handler wherever they are:
//   park    answers when all are; go    lets them go on; quit
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

enum { THREADS = 24 };
static atomic_long parked, wrong;
static atomic_int stop;
static int gate[2];

NOINLINE long work(int id, long n) { return n * 2 + id; }

static void* run(void* argument) {
  const int id = (int)(long)argument;
  for (long n = 0; !stop; n++) {
    if (work(id, n) != n * 2 + id) atomic_fetch_add(&wrong, 1);
  }
  return NULL;
}

static void on_park(int number) {
  char byte;
  (void)number;
  atomic_fetch_add(&parked, 1);
  if (read(gate[0], &byte, 1) != 1) abort();
  atomic_fetch_sub(&parked, 1);
}

static void wait_until(long wanted) {
  while (parked != wanted) usleep(1000);
}

int main(void) {
  pthread_t threads[THREADS];
  char line[16], pass[THREADS] = "";
  struct sigaction action = {.sa_handler = on_park, .sa_flags = SA_RESTART};
  if (pipe(gate) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) abort();
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void*)i);
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4) != 0) {
    if (strncmp(line, "park", 4) == 0) {
      for (int i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
      wait_until(THREADS);
    } else if (write(gate[1], pass, sizeof pass) == sizeof pass) {
      wait_until(0);
    }
    fact("parked", parked);
  }
  stop = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  fact("wrong", wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
