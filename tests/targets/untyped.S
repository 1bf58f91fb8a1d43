// Functions, labels and data without .type and .size, as much hand-written assembly has them.
    .text
    .globl untyped_called, untyped_pointed, untyped_down, untyped_outer, untyped_first, untyped_last, untyped_sum, untyped_numbers
    .globl untyped_end

untyped_called:
    leaq 1(%rdi), %rax
    ret

    .p2align 4
untyped_pointed:            // only a pointer leads here
    leaq 2(%rdi), %rax
    addq $1, %rax
    ret

    .p2align 4
untyped_down:               // a loop whose label the table of symbols has
    xorl %eax, %eax
untyped_again:
    addq %rdi, %rax
    decq %rdi
    jnz untyped_again
    ret

    .p2align 4
untyped_inner:              // local, and called
    leaq 4(%rdi), %rax
    addq $1, %rax
    ret

    .p2align 4
untyped_outer:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    movq %rdi, %rbx
    call untyped_inner
    addq %rbx, %rax
    popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc

    .p2align 4
untyped_framed:             // local: the table of pointers leads here, unwind information tells of it
    .cfi_startproc
    leaq 5(%rdi), %rax
    addq $1, %rax
    ret
    .cfi_endproc

    .p2align 4
untyped_first:
    incq %rdi
    testq %rdi, %rdi
    jmp untyped_last
    .p2align 4
untyped_last:               // where jumps and calls lead
    leaq 6(%rdi), %rax
    ret

    .p2align 4
untyped_sum:
    movl untyped_numbers(%rip), %eax
    addl untyped_words+4(%rip), %eax
    addl untyped_words(%rip), %eax
    ret
untyped_numbers:            // data in the text whose bytes are those of instructions
    .long 0x90c3c031
untyped_words:
    .long 0x90c3c031, 0xcccccc03

untyped_end:

    .section .data.rel.ro, "aw"
    .globl untyped_table
    .p2align 3
untyped_table:
    .quad untyped_framed
    .section .note.GNU-stack, "", @progbits
// SPDX-License-Identifier: Apache-2.0
