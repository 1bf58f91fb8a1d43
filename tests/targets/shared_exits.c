// Functions in assembler that leave by each other's code, as the C library's memcpy family does:
// `twice` and `thrice` jump into `plus`, `falls` runs on into it. Only the caller knows whose call
// returns there.
#include "facts.h"

long twice(long n), thrice(long n), falls(long n), plus(long n);
// Every eighth call of it is left by `jump`.
long escape(long n, void (*jump)(void));
static __attribute__((noinline)) void leave_by_jump(void);
static void* out[5];

__asm__(
    ".type twice,@function; .globl twice; twice: lea (%rdi,%rdi),%rax; jmp add_one;"
    ".size twice,.-twice;"
    ".type thrice,@function; .globl thrice; thrice: test %rdi,%rdi; js 1f;"
    "lea (%rdi,%rdi,2),%rax; jmp add_one; 1: mov $-1,%rax; ret; .size thrice,.-thrice;"
    ".type falls,@function; .globl falls; falls: add $100,%rdi; .size falls,.-falls;"
    ".type plus,@function; .globl plus; plus: mov %rdi,%rax; nop; add_one: add $1,%rax; nop; ret;"
    ".size plus,.-plus;"
    ".type escape,@function; .globl escape; escape: test $7,%dil; jne 1f; push %rdi;"
    "call *%rsi; pop %rdi; 1: mov %rdi,%rax; jmp add_one; .size escape,.-escape");

static void leave_by_jump(void) { __builtin_longjmp(out, 1); }

static long escaping(long n) {
  if (__builtin_setjmp(out)) return 0;
  return escape(n, leave_by_jump) != 0;
}

int main(void) {
  long twice_sum = 0, thrice_sum = 0, falls_sum = 0, plus_sum = 0;
  volatile long returned = 0;
  for (long i = 0; i < 100; i++) twice_sum += twice(i);
  for (long i = -20; i < 50; i++) thrice_sum += thrice(i);
  for (long i = 0; i < 30; i++) falls_sum += falls(i);
  for (long i = 0; i < 10; i++) plus_sum += plus(i);
  for (long i = 1; i <= 80; i++) returned += escaping(i);
  fact("twice sum", twice_sum);
  fact("thrice sum", thrice_sum);
  fact("falls sum", falls_sum);
  fact("plus sum", plus_sum);
  fact("escape returned", returned);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
