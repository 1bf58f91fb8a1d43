// A library that has places of every kind, for a program that opens it late (plugin.c).
#include <stdlib.h>

#include "sdt_note.h"

__attribute__((section(".probes"), used)) volatile unsigned short opened_semaphore = 0;
volatile long kept;

static inline __attribute__((always_inline)) long twice(long n) {
  kept = n;  // LINE:twice
  return n * 2;
}

__attribute__((noinline)) long helper(long n) {
  kept += n;
  return n - twice(n);
}

long lib_work(long n) {
  long result = helper(n);  // LINE:first
  __asm__ volatile(SDT_NOTE("opened", "step", "0", "-8@%0") : : "r"(n));
  if (opened_semaphore) {
    __asm__ volatile(SDT_NOTE("opened", "costly", "opened_semaphore", "-8@%0") : : "r"(n * n));
  }
  if (n == 3) {
    goto out;
  }
  result += strtol("5", 0, 10);  // LINE:odd
  result -= 5;
out:
  return result + 2 * n + 1;
}
// SPDX-License-Identifier: Apache-2.0
