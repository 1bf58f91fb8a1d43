// A function of instructions shorter than a jump. Each has a symbol that begins with how often it
// runs in dense_work(rounds): once; a round; an odd round, counted from the last one, which is 1.
    .text
    .macro once insn:vararg
once_\@:
    \insn
    .endm
    .macro round insn:vararg
round_\@:
    \insn
    .endm
    .macro odd insn:vararg
odd_\@:
    \insn
    .endm

    .globl dense_work
    .type dense_work, @function
dense_work:
    once pushq %rbx
    once pushq %rbp
    once pushq %r12
    once movq %rsp, %rbp
    once movl %edi, %ebx
    once xorl %eax, %eax
    once xorl %r12d, %r12d
    once pushq %rax
1:  round movl %ebx, %ecx
    round pushq %rcx
    round popq %rdx
    round pushq %rdx
    round leal (%rdx,%rcx,2), %edi
    round popq %rsi
    round nop
    round cld
    round call dense_leaf
    round addl %eax, %r12d
    round testb $1, %bl
    round je 2f
    odd incl %r12d
    odd pushq %rbx
    odd popq %rax
    odd cltq
    odd nop
    odd testl %eax, %eax
    odd jne 3f
    ud2
3:  odd stc
2:  round decl %ebx
    round jne 1b
    once popq %rcx
    once cmpq %rsp, %rbp
    once jne dense_wrong
    once movl %r12d, %eax
    once popq %r12
    once popq %rbp
    once popq %rbx
    once ret
    .size dense_work, .-dense_work
    .type dense_wrong, @function
dense_wrong:
    ud2
    .size dense_wrong, .-dense_wrong

    .p2align 4
    .type dense_leaf, @function
dense_leaf:
    round pushq %rbp
    round movq %rsp, %rbp
    round movl %edi, %eax
    round subl %esi, %eax
    round leave
    round ret
    .size dense_leaf, .-dense_leaf

    .section .note.GNU-stack,"",@progbits
// SPDX-License-Identifier: Apache-2.0
