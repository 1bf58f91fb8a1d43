// Has its own probe switched off and on through djtap's control socket, again and again, and counts
// what it calls between the answers; other threads call the same function all the time.
//   switcher ROUNDS WORD [PATH]   waits on stdin for the path of the socket if it is not given
// A round: "disable WORD", some calls, "enable WORD", some calls. "asked on" are the calls of the
// asking thread (id 0) that must be counted, "asked off" those that must not.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"

enum { OTHERS = 2 };
static atomic_int stop, running;
static atomic_long others;

NOINLINE long asked(long id, long n) {
  __asm__ volatile("" ::: "memory");
  return n * 2 + id;
}

static void* call_all_the_time(void* argument) {
  long id = (long)argument, n = 0;
  for (; !stop; n++) {
    if (asked(id, n) != n * 2 + id) abort();
    if (n == 0) atomic_fetch_add(&running, 1);
  }
  atomic_fetch_add(&others, n);
  return NULL;
}

static void ask(int djtap, const char* command, const char* word) {
  char line[256], answer[256];
  size_t length = 0;
  const int bytes = snprintf(line, sizeof line, "%s %s\n", command, word);
  if (send(djtap, line, (size_t)bytes, 0) != bytes) abort();
  while (length == 0 || answer[length - 1] != '\n') {
    ssize_t got = recv(djtap, answer + length, sizeof answer - length, 0);
    if (got <= 0) abort();
    length += (size_t)got;
  }
  if (length != 3 || memcmp(answer, "ok\n", 3) != 0) abort();
}

static long call_some(long round) {
  const long calls = 1 + round % 3;
  for (long i = 0; i < calls; i++) {
    if (asked(0, i) != i * 2) abort();
  }
  return calls;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  pthread_t threads[OTHERS];
  struct timespec begin, end;
  long on = 0, off = 0;
  if (argc < 3) return 2;
  fact("pid", getpid());
  if (argc > 3) {
    strncpy(address.sun_path, argv[3], sizeof address.sun_path - 1);
  } else if (fgets(address.sun_path, sizeof address.sun_path, stdin) != NULL) {
    address.sun_path[strcspn(address.sun_path, "\n")] = 0;
  }
  const int djtap = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(djtap, (struct sockaddr*)&address, sizeof address) != 0) return 3;
  for (long i = 0; i < OTHERS; i++)
    pthread_create(&threads[i], NULL, call_all_the_time, (void*)(i + 1));
  while (running < OTHERS) usleep(100);
  on += call_some(2);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long round = 0; round < atol(argv[1]); round++) {
    ask(djtap, "disable", argv[2]);
    off += call_some(round);
    ask(djtap, "enable", argv[2]);
    on += call_some(round + 1);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  stop = 1;
  for (int i = 0; i < OTHERS; i++) pthread_join(threads[i], NULL);
  fact("asked on", on);
  fact("asked off", off);
  fact("others", others);
  fact("us a switch", ((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec) /
                          2000 / atol(argv[1]));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
