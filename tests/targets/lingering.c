// A thread waits in vfork for a child that does not end, while another one goes on.
//   vfork   the child says "child: 1" and ends with the next line that comes
//   quit    says how often work() was called
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

static atomic_int ending;
static long calls;

NOINLINE void work(void) { calls++; }

static void* worker(void* none) {
  while (!ending) {
    work();
    usleep(100);
  }
  return none;
}

// Byte by byte: what comes behind the line is the child's.
static int read_line(char* line, int size) {
  int at = 0;
  while (at < size - 1 && read(0, line + at, 1) == 1 && line[at] != '\n') at++;
  line[at] = 0;
  return at > 0;
}

int main(void) {
  char line[80];
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  fact("pid", getpid());
  while (read_line(line, sizeof line) && strcmp(line, "quit") != 0) {
    if (vfork() == 0) {
      static const char said[] = "child: 1\n";
      char next;
      if (write(1, said, sizeof said - 1) > 0) {
        while (read(0, &next, 1) == 1 && next != '\n') {
        }
      }
      _exit(0);
    }
    fact("back", 1);
  }
  ending = 1;
  pthread_join(thread, 0);
  fact("calls", calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
