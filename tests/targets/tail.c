// Tail calls: front jumps to back, so its return is back's return; last_back returns for both.
#include "facts.h"

static long front_calls, back_calls, exits_calls;

NOINLINE long back(long n) {
  back_calls++;
  return n * 3;
}

NOINLINE long front(long n) {
  front_calls++;
  return back(n + 1);
}

// Several exits: a return in the middle and a conditional one.
NOINLINE long exits(long n) {
  exits_calls++;
  if (n == 0) return -1;
  if (n % 2 == 0) return n / 2;
  return n * 3 + 1;
}

// A tail call on one way only, as a conditional jump (gcc -Os, clang).
long maybe(long n);
__asm__(".type maybe,@function; .globl maybe; maybe: test $3,%dil; je back;"
        "lea 7(%rdi),%rax; ret; .size maybe,.-maybe");

// Its return is also called alone, through a pointer: it lies inside the bytes of the jump that
// stands before it, since the next function follows at once.
long leaves(long n);
extern char leaves_end[];
static void (*volatile leave)(void) = (void (*)(void))leaves_end;
__asm__(".type leaves,@function; .globl leaves, leaves_end; leaves: push %rbx; mov %rdi,%rbx;"
        "lea 7(%rbx),%rax; pop %rbx; leaves_end: ret; .size leaves,.-leaves;"
        ".type neighbour,@function; neighbour: push %rax; pop %rax; ret; .size neighbour,.-neighbour");

// Calls through a table in the tail of a loop over a computed goto.
static long (*const table[])(long) = {back, exits};
NOINLINE long program(const char* code, long n) {
  static const void* const steps[] = {&&inc, &&twice, &&call};
  goto* steps[*code++ - '0'];
inc:
  n++;
  goto* steps[*code++ - '0'];
twice:
  n *= 2;
  goto* steps[*code++ - '0'];
call:
  return table[n & 1](n);
}

int main(void) {
  long total = 0;
  for (long i = 0; i < 100; i++) total += front(i);
  for (long i = 0; i < 100; i++) total += exits(i);
  for (long i = 0; i < 60; i++) total += leaves(i);
  for (long i = 0; i < 40; i++) leave();
  fact("leaves returns", 60 + 40);
  long maybe_calls = 0, program_calls = 0;
  for (long i = 0; i < 90; i++, maybe_calls++) total += maybe(i);
  for (long i = 0; i < 50; i++, program_calls++) total += program(i % 2 ? "010112" : "1102", i);
  fact("maybe calls", maybe_calls);
  fact("program calls", program_calls);
  fact("front calls", front_calls);
  fact("back calls", back_calls);
  fact("exits calls", exits_calls);
  fact("total", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
