// Functions cut in two as BOLT does it: the second part is a FUNC symbol with a frame description of
// its own, entered by a jump with values in the flags and in scratch registers.
//   framed    its part framed.warm begins below a pushed register
//   frameless its part frameless.rest begins where a function does; only its jumps tell
//   quiet     its part has a name of its own, quiet_rest; only its CFA tells
#include "facts.h"

long framed(long n);
long frameless(long n);
long quiet(long n);

#define PART(name, body)                                                                \
  ".section .text.warm,\"ax\"; .local " name "; .type " name ",@function; " name ":" body \
  ".size " name ",.-" name "; .text;"

__asm__(
    ".type framed,@function; .globl framed; framed: .cfi_startproc; push %rbx;"
    ".cfi_def_cfa_offset 16; .cfi_offset %rbx,-16; mov %rdi,%rbx; mov $7,%r10d; mov $9,%eax;"
    "test $1,%edi; jmp framed.warm; .cfi_endproc; .size framed,.-framed;"
    PART("framed.warm",
         ".cfi_startproc; .cfi_def_cfa_offset 16; .cfi_offset %rbx,-16; mov %rbx,%rcx; jne 1f;"
         "add %r10,%rax; 1: pop %rbx; .cfi_def_cfa_offset 8; ret; .cfi_endproc;")
    ".type frameless,@function; .globl frameless; frameless: .cfi_startproc; mov $11,%r10d;"
    "mov $13,%eax; test $1,%edi; jmp frameless.rest; 2: add $1,%rax; ret; .cfi_endproc;"
    ".size frameless,.-frameless;"
    PART("frameless.rest",
         ".cfi_startproc; mov %rdi,%rcx; je 1f; add %r10,%rax; jmp 2b; 1: ret; .cfi_endproc;")
    ".type quiet,@function; .globl quiet; quiet: .cfi_startproc; push %rbx;"
    ".cfi_def_cfa_offset 16; .cfi_offset %rbx,-16; mov $3,%r10d; mov $17,%eax; test $1,%edi;"
    "jmp quiet_rest; .cfi_endproc; .size quiet,.-quiet;"
    PART("quiet_rest",
         ".cfi_startproc; .cfi_def_cfa_offset 16; .cfi_offset %rbx,-16; mov %rdi,%rcx; jne 1f;"
         "add %r10,%rax; 1: pop %rbx; .cfi_def_cfa_offset 8; ret; .cfi_endproc;"));

int main(void) {
  long sum = 0;
  for (long i = 0; i < 1000; i++) sum = sum * 3 + framed(i) + frameless(i) * 5 + quiet(i) * 7;
  fact("sum", sum);
  fact("calls", 1000);
}
// SPDX-License-Identifier: Apache-2.0
