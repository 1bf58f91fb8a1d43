// A switch in assembler whose jump table cannot be read to its end: the index is doubled behind the
// bounds check, and between the entries lies a number that leads nowhere. The last entry leads to the
// `ret` in the middle of another case's return.
#include "facts.h"

long chosen(long which);

__asm__(
    ".type chosen,@function; .globl chosen; chosen:"
    "cmp $1,%rdi; ja 9f; mov %rdi,%rax; lea 5f(%rip),%rsi; add %rdi,%rax;"
    "movslq (%rsi,%rax,4),%rcx; add %rsi,%rcx; mov %rdi,%rax; jmp *%rcx;"
    "1: mov $128,%eax; ret;"
    "2: xor %eax,%eax; xor %edx,%edx; 3: ret;"
    "9: mov $5,%eax; ret; .size chosen,.-chosen;"
    ".section .rodata; .balign 4; 5: .long 1b-5b, 0x7fffffff, 3b-5b; .text");

int main(void) {
  long sum = 0;
  for (long i = 0; i < 3000; i++) sum = sum * 3 + chosen(i % 3);
  fact("sum", sum);
  fact("calls", 3000);
}
// SPDX-License-Identifier: Apache-2.0
