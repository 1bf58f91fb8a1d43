// Blocks every signal by a system call instruction of its own, which no jump can replace: its block has two bytes.
#include "facts.h"

long raw_mask(long how, const unsigned long* set, unsigned long* old, long bytes);
__asm__(
    ".globl raw_mask\n.type raw_mask, @function\n"
    "raw_mask: mov %rcx, %r10\n"
    "  mov $14, %eax\n"
    "  jmp 1f\n"
    "  nop\n"
    "1: syscall\n"
    "2: xor %ecx, %ecx\n"
    "  test %rax, %rax\n"
    "  jg 2b\n"
    "  cmp $-4, %rax\n"
    "  je 1b\n"
    "  ret\n"
    ".size raw_mask, . - raw_mask\n");

NOINLINE long work(long i) {
  __asm__ volatile("" : "+r"(i));
  return i + 1;
}

int main(void) {
  unsigned long all = ~0ul;
  if (raw_mask(0, &all, 0, 8) != 0) return 1;
  long calls = 0;
  while (calls < 100) calls = work(calls);
  fact("work calls", calls);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
