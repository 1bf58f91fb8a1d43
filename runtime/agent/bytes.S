// SPDX-License-Identifier: Apache-2.0
// memcpy() and memset(), which compilers call on their own. All string instructions of the agent
// and of handlers are here: the program may have set the direction flag where a handler runs, and
// asking for it costs least where something is copied. In assembly, since a compiler does not tell
// unwinders that it has pushed the flags.
        .text

// Whether the direction flag is set: not zero.
        .macro  ask_direction
        pushfq
        .cfi_adjust_cfa_offset 8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        testl   $0x400, %r8d
        .endm

// rdi: to, rsi: from, rdx: bytes. Gives to.
        .globl  memcpy
        .hidden memcpy
        .type   memcpy, @function
        .balign 16
memcpy: .cfi_startproc
        movq    %rdx, %rcx
        movq    %rdi, %rax
        ask_direction
        jne     1f
        rep movsb
        ret
1:      cld
        rep movsb
        std
        ret
        .cfi_endproc
        .size   memcpy, . - memcpy

// rdi: to, esi: byte, rdx: bytes. Gives to.
        .globl  memset
        .hidden memset
        .type   memset, @function
        .balign 16
memset: .cfi_startproc
        movq    %rdx, %rcx
        movq    %rdi, %rdx
        movl    %esi, %eax
        ask_direction
        jne     1f
        rep stosb
        movq    %rdx, %rax
        ret
1:      cld
        rep stosb
        std
        movq    %rdx, %rax
        ret
        .cfi_endproc
        .size   memset, . - memset

        .section .note.GNU-stack,"",@progbits
