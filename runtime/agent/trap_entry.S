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

// The registers of the system call as a CallFrame (syscall_filter.cpp). Nothing stays on the stack:
// a vfork child comes back on the same one. rcx, r11 and status flags are the system call's to
// change. What the call's arguments point to need not be aligned, so the alignment check (AC) is
// off meanwhile.
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
        pushfq
        testl   $0x40000, -8(%rbx)
        jz      1f
        pushq   -8(%rbx)
        andl    $~0x40000, (%rsp)
        popfq
1:      andq    $-16, %rsp
        call    filter_with_room
        testl   $0x40000, -8(%rbx)
        jz      1f
        pushq   -8(%rbx)
        popfq
1:      movq    %rbx, %rsp
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

// dj_syscall_filter() where there is room (own_stack.h). It may change the mask of signals.
filter_with_room:
        .cfi_startproc
        .set    kFirstStack, 288        // of Header
        movq    dj_arena_base(%rip), %r11
        cmpq    kFirstStack(%r11), %rsp
        jb      1f
        jmp     dj_syscall_filter
1:      leaq    2f(%rip), %r11
        jmp     dj_find_room
        .cfi_endproc
        .balign 8
2:      .quad   dj_syscall_filter       // an OwnStackRecord: kMustRunUnmasked
        .long   0, 2

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
        andq    $-16, %rsp
        call    dj_child_begins
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
