// What a manual of the language says of target variables can be tried on: structs in structs, pointers, arrays, texts, a label, an inlined function, a
// static variable that another file has as well (reference_part.c), a mark, threads.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "facts.h"
#include "sdt_note.h"

struct inner {
  int depth;
  const char* word;
};
struct node {
  long id;
  char name[8];
  int list[4];
  struct inner in;
  struct inner* out;
  struct node* next;
  void* data;
};

long part(long n);

static int limit = 41;
long shared = 12;
static struct inner outer = {9, "outer"};
static struct node nodes[2] = {
    {1, "first", {10, 11, 12, 13}, {5, "inner"}, &outer, &nodes[1], &outer},
    {2, "second", {20, 21, 22, 23}, {6, "other"}, NULL, NULL, "bytes"},
};

static inline __attribute__((always_inline)) int squared(int n) {
  return n * n;
}

NOINLINE long take(struct node* node, const char* text, unsigned count) {
  long total = node->id + limit;
  if (count > 100) goto large;
  total += squared((int)count);
large:
  __asm__ volatile(SDT_NOTE("reference", "taken", "0", "8@%0 8@%1") : : "r"(total), "r"(text));
  count = 3;
  return total + count;
}

NOINLINE long outer_call(long n) {
  return take(&nodes[n & 1], "text", (unsigned)n) + part(n);
}

static void* run(void* argument) {
  struct timeval when = {1234, 5678};
  gettimeofday(&when, NULL);
  return argument;
}

int main(int argc, char** argv) {
  long sum = 0;
  pthread_t thread;
  int calls = argc > 1 ? atoi(argv[1]) : 4;
  for (long n = 0; n < calls; n++) sum += outer_call(n);
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  if (close(-3) == 0) return 1;  // one system call that fails
  fact("sum", sum);
  fact("shared", shared + (long)strlen(outer.word));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
