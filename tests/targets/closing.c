// Threads that open a library, call it and close it, again and again, until a line comes on stdin:
// closing LIBRARY
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

static const char* library;
static atomic_int stop;
static atomic_long rounds, wrong;

static void* run(void* argument) {
  while (!stop) {
    void* handle = dlopen(library, RTLD_NOW);
    long (*work)(long) = handle ? (long (*)(long))dlsym(handle, "lib_work") : NULL;
    if (!work) abort();
    const long first = work(5);
    for (int i = 0; i < 200; i++) {
      if (work(5) != first) atomic_fetch_add(&wrong, 1);
      if (i % 20 == 0) usleep(100);
    }
    dlclose(handle);
    atomic_fetch_add(&rounds, 1);
    usleep(1000);
  }
  return argument;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  library = argv[1];
  pthread_t threads[2];
  char line[16];
  fact("pid", getpid());
  const int out = dup(1);  // the library's destructor prints, too, each time
  if (!freopen("/dev/null", "w", stdout)) abort();
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
  dprintf(out, "running: 1\n");
  if (!fgets(line, sizeof line, stdin)) line[0] = 0;
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  dprintf(out, "rounds: %ld\nwrong: %ld\n", rounds, wrong);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
