// Sets the gs base by an instruction, no system call, and reads through it in between the calls of work().
#include <stdlib.h>
#include <sys/auxv.h>

#include "facts.h"

static long own[16] = {4711};

NOINLINE long work(long n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}

int main(void) {
  long calls = 0, word = 4711;
  if ((getauxval(AT_HWCAP2) & 2) != 0) __asm__ volatile("wrgsbase %0" : : "r"(own));
  for (; calls < 100; calls++) {
    if (work(calls) != calls + 1) abort();
  }
  if ((getauxval(AT_HWCAP2) & 2) != 0) __asm__ volatile("movq %%gs:0, %0" : "=r"(word));
  for (int i = 1; i < 16; i++) {
    if (own[i] != 0) word = -1;
  }
  fact("work calls", calls);
  fact("word at gs", word);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
