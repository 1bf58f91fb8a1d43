// Calls the functions of untyped.S, which say neither that they are functions nor where they end, known numbers of times.
#include <stdlib.h>

#include "facts.h"

long untyped_called(long n);
long untyped_pointed(long n);
long untyped_down(long n);
long untyped_outer(long n);
long untyped_first(long n);
long untyped_last(long n);
int untyped_sum(void);
extern long (*const untyped_table[])(long);

long (*volatile pointed)(long) = untyped_pointed;

static void check(long value, long wanted) {
  if (value != wanted) abort();
}

int main(void) {
  int sum = 0;
  for (long i = 1; i <= 120; i++) {
    check(untyped_called(i), i + 1);
    if (i % 2 == 0) check(pointed(i), i + 3);
    if (i % 3 == 0) check(untyped_down(i), i * (i + 1) / 2);
    if (i % 4 == 0) check(untyped_outer(i), 2 * i + 5);
    if (i % 5 == 0) check(untyped_table[0](i), i + 6);
    if (i % 6 == 0) check(untyped_first(i), i + 7);
    if (i % 8 == 0) check(untyped_last(i), i + 6);
    if (i % 10 == 0) sum += untyped_sum();
  }
  fact("untyped_called", 120);
  fact("untyped_pointed", 60);
  fact("untyped_down", 40);
  fact("untyped_outer", 30);
  fact("untyped_inner", 30);
  fact("untyped_framed", 24);
  fact("untyped_first", 20);
  fact("untyped_last", 20 + 15);
  fact("untyped_sum", 12);
  printf("sum %d\n", sum);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
