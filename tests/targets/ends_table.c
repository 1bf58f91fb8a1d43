// clang's switch over an unsigned char whose default cannot be reached: the table has entries for
// values that cannot occur, which lead to the end of the function, and no bounds check. One case is
// the lone `ret` behind another one.
#include "facts.h"

long sized(const unsigned char* what);

__asm__(
    ".type sized,@function; .globl sized; sized:"
    "mov (%rdi),%cl; mov $1,%eax; add $0x80,%cl; movzbl %cl,%ecx; lea 5f(%rip),%rsi;"
    "movslq (%rsi,%rcx,4),%rcx; add %rsi,%rcx; jmp *%rcx;"
    "1: mov $128,%eax; ret;"
    "2: xor %eax,%eax; xor %edx,%edx; 3: ret;"
    "4: mov $5,%eax; ret; 9: .size sized,.-sized; nop;"
    ".section .rodata; .balign 4;"
    "5: .rept 40; .long 1b-5b; .endr; .rept 88; .long 9b-5b; .endr; .long 2b-5b, 1b-5b, 3b-5b;"
    ".rept 125; .long 4b-5b; .endr; .text");

int main(void) {
  long sum = 0, calls = 0;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 256; i++) {
      const int index = (i + 128) & 255;
      if (index >= 40 && index < 128) continue;
      const unsigned char what = (unsigned char)i;
      sum = sum * 3 + sized(&what);
      calls++;
    }
  }
  fact("sum", sum);
  fact("calls", calls);
}
// SPDX-License-Identifier: Apache-2.0
