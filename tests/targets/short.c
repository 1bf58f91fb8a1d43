// Calls the tiny functions of short.S known numbers of times.
#include <stdlib.h>

#include "facts.h"

void short_ret(void);
int short_zero(void);
int short_same(int n);
int short_loop(int n);
int short_padded(int n);
void short_step(int n);
void short_push(int n);
void short_over(int n);

int main(void) {
  for (int i = 1; i <= 1000; i++) {
    short_ret();
    if (i % 2 == 0 && short_zero() != 0) abort();
    if (i % 4 == 0 && short_same(i) != i) abort();
    if (i % 5 == 0 && short_loop(i) != i * (i + 1) / 2) abort();
    if (i % 8 == 0 && short_padded(i) != i) abort();
  }
  for (int i = 1; i <= 200; i++) short_step(500);
  for (int i = 1; i <= 300; i++) short_push(i);
  for (int i = 1; i <= 400; i++) short_over(i);
  fact("short_push", 300);
  fact("short_pop", 300 + 400);
  fact("short_over", 400);
  fact("short_step", 200);
  fact("short_rest", 200 * 500);
  fact("short_ret", 1000);
  fact("short_zero", 500);
  fact("short_same", 250);
  fact("short_loop", 200);
  fact("short_padded", 125);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
