// SPDX-License-Identifier: Apache-2.0
// Entries that C++ cannot be: the return from the SIGTRAP action, the hook of system calls, what is
// called in place of a handler that is switched off.
        .text
        .globl  dj_restorer, dj_syscall_hook, dj_child_hook, dj_switched_off
        .hidden dj_restorer, dj_syscall_hook, dj_child_hook, dj_switched_off, dj_syscall_filter, dj_child_begins, dj_find_room, dj_arena_base

// The signal frame lies at the stack pointer. Unwinders know it by these very bytes; they look at
// the one before, too, which must be nobody's.
        nop
dj_restorer:
        movq    $15, %rax               // rt_sigreturn
        syscall

dj_switched_off:
        .cfi_startproc
        ret
        .cfi_endproc

        // rbx: rsp. What the call's arguments point to need not be aligned, so the alignment check
        // (AC) is off meanwhile. The flags are at -8(%rbx) then.
        .macro  call_without_alignment_check code
        .set    kAlignmentCheck, 0x40000
        pushfq
        testl   $kAlignmentCheck, -8(%rbx)
        jz      .Lclear\@
        pushq   -8(%rbx)
        andl    $~kAlignmentCheck, (%rsp)
        popfq
.Lclear\@:
        andq    $-16, %rsp
        call    \code
        testl   $kAlignmentCheck, -8(%rbx)
        jz      .Lgiven\@
        pushq   -8(%rbx)
        popfq
.Lgiven\@:
        .endm

// The registers of the system call as a CallFrame (syscall_filter.cpp). Nothing stays on the stack:
// a vfork child comes back on the same one. rcx, r11 and status flags are the system call's to
// change.
dj_syscall_hook:
        .cfi_startproc
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        movq    %rsp, %rdi
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        call_without_alignment_check filter_with_room
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        movl    %eax, %r11d
        popq    %rax
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        cmpl    $1, %r11d               // kFilterMade: CF; kFilterNothing: ZF; kFilterForks: neither
        ret
        .cfi_endproc

        .set    kFirstStack, 240        // of Header

        // `code` where there is room (own_stack.h). It may change the mask of signals.
        .macro  run_with_room code
        .cfi_startproc
        movq    dj_arena_base(%rip), %r11
        cmpq    kFirstStack(%r11), %rsp
        jb      1f
        jmp     \code
1:      leaq    2f(%rip), %r11
        jmp     dj_find_room
        .cfi_endproc
        .pushsection .rodata.dj_own_stack, "a", @progbits
        .balign 8
2:      .quad   \code                   // an OwnStackRecord: kMustRunUnmasked
        .long   0, 2
        .popsection
        .endm

filter_with_room:
        run_with_room dj_syscall_filter
child_begins_with_room:
        run_with_room dj_child_begins

// Behind a system call that starts threads, on the new one's stack or, of vfork, the parent's.
// Changes what the system call may change, and nothing else.
dj_child_hook:
        .cfi_startproc
        testq   %rax, %rax
        jnz     1f
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        call_without_alignment_check child_begins_with_room
        movq    %rbx, %rsp
        .cfi_def_cfa_register %rsp
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        xorl    %eax, %eax
1:      ret
        .cfi_endproc

        .section .note.GNU-stack,"",@progbits
