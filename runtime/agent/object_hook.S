// SPDX-License-Identifier: Apache-2.0
// The hook of the C library's _dl_find_object(): called at its first instruction by the detour,
// which has saved r11 and nothing else (arch::Form::Boundary).
        .text
        .globl  dj_find_object
        .hidden dj_find_object, dj_own_object

// Answers for what is djtap's own, and returns to the function's caller; else goes on in the
// function, with the registers as they were. On the stack: the way back into the detour, r11, the
// caller's return address.
dj_find_object:
        .cfi_startproc
        .macro  save reg
        pushq   \reg
        .cfi_adjust_cfa_offset 8
        .endm
        .macro  restore reg
        popq    \reg
        .cfi_adjust_cfa_offset -8
        .endm
        save    %rax
        save    %rcx
        save    %rdx
        save    %rsi
        save    %rdi
        save    %r8
        save    %r9
        save    %r10
        save    %rbx
        .cfi_rel_offset %rbx, 0
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        andq    $-16, %rsp
        call    dj_own_object
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        movl    %eax, %r11d
        restore %rbx
        .cfi_restore %rbx
        restore %r10
        restore %r9
        restore %r8
        restore %rdi
        restore %rsi
        restore %rdx
        restore %rcx
        restore %rax
        testl   %r11d, %r11d
        jnz     1f
        ret
1:      leaq    16(%rsp), %rsp
        .cfi_adjust_cfa_offset -16
        xorl    %eax, %eax              // found
        ret
        .cfi_endproc

        .section .note.GNU-stack,"",@progbits
