// Functions that others jump into, behind their first instruction, as glibc's mempcpy() jumps into
// memcpy(): they are called ten times for each of these jumps.
//   jumped_into ROUNDS    facts and the end; 0: rounds until SIGTERM
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

__asm__(
    ".text\n"
    ".macro func name\n"
    ".globl \\name\n"
    ".type \\name,@function\n"
    "\\name:\n"
    ".endm\n"
    ".p2align 6\n"
    "func by_short\n"  // padding follows
    "  mov %rdi,%rax\n"
    "  add $1,%rax\n"
    "  jmp inside_one\n"
    ".size by_short, .-by_short\n"
    ".p2align 6\n"
    "func by_near\n"
    "  mov %rdi,%rax\n"
    "  .byte 0xe9\n"
    "  .long inside_one - . - 4\n"
    ".size by_near, .-by_near\n"
    "func by_condition\n"
    "  mov %rdi,%rax\n"
    "  test %rax,%rax\n"
    "  .byte 0x0f, 0x89\n"  // jns
    "  .long inside_one - . - 4\n"
    "  ud2\n"
    ".size by_condition, .-by_condition\n"
    ".p2align 6\n"
    "func add_one\n"
    "  mov %rdi,%rax\n"
    "inside_one:\n"
    "  add $1,%rax\n"
    "  ret\n"
    ".size add_one, .-add_one\n"
    ".p2align 6\n"
    "func add_ten\n"
    "  mov %rdi,%rax\n"
    "inside_ten:\n"
    "  add $10,%rax\n"
    "  ret\n"
    ".size add_ten, .-add_ten\n"
    "func by_tight\n"
    "  mov %rdi,%rax\n"
    "  jmp inside_ten\n"  // nothing follows but the next function
    ".size by_tight, .-by_tight\n"
    "func by_nothing\n"
    "  mov %rdi,%rax\n"
    "  ret\n"
    ".size by_nothing, .-by_nothing\n");
long by_short(long n), by_near(long n), by_condition(long n), by_tight(long n), by_nothing(long n);
long add_one(long n), add_ten(long n);

static volatile sig_atomic_t stopped;
static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1;
  long n = 0, i = 0;
  signal(SIGTERM, stop);
  fact("pid", getpid());
  for (; rounds == 0 ? !stopped : i < rounds; i++) {
    n = by_nothing(by_tight(by_condition(by_near(by_short(n)))));
    for (int j = 0; j < 30; j++) n = add_one(n);
    for (int j = 0; j < 10; j++) n = add_ten(n);
  }
  if (n != (2 + 1 + 1 + 10 + 30 + 100) * i) return 1;
  fact("add_one calls", 30 * i);
  fact("add_one jumps", 3 * i);
  fact("add_ten calls", 10 * i);
  fact("add_ten jumps", i);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
