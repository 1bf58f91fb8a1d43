// Functions whose blocks the compiler has made code of their own, each with its frame entry and no name
// of a function (clang's -fbasic-block-sections): a jump to one of them leaves nothing, and what is
// below the stack pointer lives on.
#include "facts.h"

long summed(long n);  // 1 + .. + n, its variables in the red zone
long halved(long n);  // how often n can be halved, in a frame

__asm__(
    ".type summed,@function; .globl summed; summed: .cfi_startproc;"
    "mov %rdi,-8(%rsp); movq $0,-16(%rsp); test %rdi,%rdi; jle summed_2; jmp summed_1;"
    ".cfi_endproc; .size summed,.-summed; .p2align 4;"
    "summed_1: .cfi_startproc; .cfi_def_cfa %rsp,8; mov -8(%rsp),%rax; add %rax,-16(%rsp);"
    "sub $1,%rax; mov %rax,-8(%rsp); jg summed_1; jmp summed_2; .cfi_endproc; .p2align 4;"
    "summed_2: .cfi_startproc; .cfi_def_cfa %rsp,8; mov -16(%rsp),%rax; ret;"
    ".cfi_endproc; .p2align 4;"
    ".type halved,@function; .globl halved; halved: .cfi_startproc; push %rbp;"
    ".cfi_def_cfa_offset 16; .cfi_offset %rbp,-16; mov %rsp,%rbp; .cfi_def_cfa_register %rbp;"
    "movq $0,-8(%rbp); jmp halved_2; .cfi_endproc; .size halved,.-halved; .p2align 4;"
    "halved_1: .cfi_startproc; .cfi_def_cfa %rbp,16; .cfi_offset %rbp,-16; incq -8(%rbp);"
    "jmp halved_2; .cfi_endproc; .p2align 4;"
    "halved_2: .cfi_startproc; .cfi_def_cfa %rbp,16; .cfi_offset %rbp,-16; shr %rdi;"
    "jne halved_1; jmp halved_3; .cfi_endproc; .p2align 4;"
    "halved_3: .cfi_startproc; .cfi_def_cfa %rbp,16; .cfi_offset %rbp,-16; mov -8(%rbp),%rax;"
    "pop %rbp; .cfi_def_cfa %rsp,8; ret; .cfi_endproc; .p2align 4");

int main(void) {
  long sums = 0, halves = 0;
  for (long i = 0; i < 50; i++) sums += summed(i);
  for (long i = 0; i < 70; i++) halves += halved(i);
  fact("sums", sums);
  fact("halves", halves);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
