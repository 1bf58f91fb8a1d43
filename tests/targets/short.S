// Functions shorter than a jump, back to back, and some into whose bytes loops come back.
    .text
    .macro function name
    .globl \name
    .type \name, @function
\name:
    .endm

// c3: one byte, followed at once by the next function.
    function short_ret
    ret
    .size short_ret, .-short_ret

// 31 c0 c3: three bytes.
    function short_zero
    xorl %eax, %eax
    ret
    .size short_zero, .-short_zero

// 89 f8 c3.
    function short_same
    movl %edi, %eax
    ret
    .size short_same, .-short_same

// A backward branch to its second instruction, inside the five bytes a jump would take.
    .p2align 4
    function short_loop
    xorl %eax, %eax
1:  addl %edi, %eax
    decl %edi
    jnz 1b
    ret
    .size short_loop, .-short_loop

// Padded after its end: the jump may use the padding.
    .p2align 4
    function short_padded
    movl %edi, %eax
    ret
    .size short_padded, .-short_padded
    .p2align 4

// Three bytes that run into the next function, whose loop comes back to the second of them.
    .p2align 4
    function short_step
    nop
1:  addl %edi, %eax
    .size short_step, .-short_step
    function short_rest
    decl %edi
    jnz 1b
    movl $7, %eax
    ret
    .size short_rest, .-short_rest
    .p2align 4

// Four bytes that run into a function of two, behind which a loop of a third one comes back to it.
    .p2align 4
    function short_push
    pushq %rbx
    movl %edi, %ebx
    nop
    .size short_push, .-short_push
    function short_pop
    popq %rbx
    ret
1:  decl %edi
    jnz 1b
    jmp short_pop
    .size short_pop, .-short_pop
    function short_over
    pushq %rbx
    xorl %eax, %eax
    jmp 1b
    .size short_over, .-short_over
    .p2align 4

// Two ways out: at the second one the next function begins inside the jump's bytes.
    .p2align 4
    function short_two
    testl %edi, %edi
    je 1f
    leal 1(%rdi), %eax
    imull $3, %eax, %eax
    ret
1:  xorl %eax, %eax
    ret
    .size short_two, .-short_two
    function short_after
    movl %edi, %eax
    ret
    .size short_after, .-short_after
    .p2align 4

    .section .note.GNU-stack,"",@progbits
// SPDX-License-Identifier: Apache-2.0
