// Data between instructions, as assembler code has it: a word that reads as an instruction and the first bytes of what
// comes behind it. The program counts how often each way out is taken.
#include "facts.h"

NOINLINE int step(int n) {
  __asm__ goto(
      "testb $1, %b[n]\n"
      "je 1f\n"
      "jmp %l[odd]\n"
      ".long 0x53053053\n"
      "1: jmp %l[even]\n"
      :
      : [n] "q"(n)
      : "cc"
      : odd, even);
odd:
  return 1;
even:
  return 2;
}

int main(void) {
  long counts[3] = {0};
  for (int i = 0; i < 1000; i++) counts[step(i)]++;
  fact("odd", counts[1]);
  fact("even", counts[2]);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
