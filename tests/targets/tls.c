// Threads that use the thread-local variables of three libraries: of the general dynamic form, by
// descriptors, and of one that is opened when the threads are there already.
//   tls LIBRARY
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "facts.h"

extern __thread long tls_shared;
extern int tls_plain;
long tls_work(long id, long n), desc_work(long id, long n);

static __thread long own = 70;
static long (*later_work)(long, long);
static long sums[4];
static pthread_barrier_t all_there, opened;

// Reads a library's variables itself.
NOINLINE long use(long id) { return own + id + tls_shared + tls_plain; }

static void* thread(void* argument) {
  const long id = (long)argument;
  pthread_barrier_wait(&all_there);
  pthread_barrier_wait(&opened);
  own += id;
  for (long i = 0; i < 10; i++)
    sums[id] = tls_work(id, id) + desc_work(id, 10 * id) + later_work(id, 100 * id);
  sums[id] += use(id);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[4];
  pthread_barrier_init(&all_there, NULL, 4);
  pthread_barrier_init(&opened, NULL, 4);
  tls_plain = 1000;
  for (long id = 1; id <= 3; id++) pthread_create(&threads[id], NULL, thread, (void*)id);
  pthread_barrier_wait(&all_there);
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  later_work = library ? (long (*)(long, long))dlsym(library, "later_work") : NULL;
  if (!later_work) abort();
  pthread_barrier_wait(&opened);
  for (long id = 1; id <= 3; id++) pthread_join(threads[id], NULL);
  for (long id = 1; id <= 3; id++) {
    char name[32];
    snprintf(name, sizeof name, "sum of %ld", id);
    fact(name, sums[id]);
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
