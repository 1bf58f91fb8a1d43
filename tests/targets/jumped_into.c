// A function that another one jumps into, behind its first instruction, as glibc's mempcpy() jumps
// into memcpy(): it is called ten times for each of these jumps.
//   jumped_into ROUNDS
#include <stdlib.h>

#include "facts.h"

__asm__(
    ".text\n"
    ".p2align 6\n"
    ".globl add_two\n"
    ".type add_two,@function\n"
    "add_two:\n"
    "  mov %rdi,%rax\n"
    "  add $1,%rax\n"
    "  jmp 1f\n"
    ".size add_two, .-add_two\n"
    ".p2align 6\n"
    ".globl add_one\n"
    ".type add_one,@function\n"
    "add_one:\n"
    "  mov %rdi,%rax\n"
    "1: add $1,%rax\n"
    "  ret\n"
    ".size add_one, .-add_one\n");
long add_one(long n);
long add_two(long n);

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1;
  long n = 0;
  for (long i = 0; i < rounds; i++) {
    n = add_two(n);
    for (int j = 0; j < 10; j++) n = add_one(n);
  }
  if (n != 12 * rounds) return 1;
  fact("add_one calls", 10 * rounds);
  fact("add_two calls", rounds);
  return 0;
}
