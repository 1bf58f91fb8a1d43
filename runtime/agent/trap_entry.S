// Entries that C++ cannot be: the return from the SIGTRAP action, the hook of system calls, what is
// called in place of a handler that is switched off.
        .text
        .globl  dj_restorer, dj_syscall_hook, dj_child_hook, dj_switched_off
        .hidden dj_restorer, dj_syscall_hook, dj_child_hook, dj_switched_off, dj_syscall_filter, dj_child_begins

// The signal frame lies at the stack pointer.
dj_restorer:
        movl    $15, %eax               // rt_sigreturn
        syscall

dj_switched_off:
        ret

// The registers of the system call as a CallFrame (syscall_filter.cpp). Nothing stays on the stack:
// a vfork child comes back on the same one. rcx, r11 and flags are the system call's to change.
dj_syscall_hook:
        pushq   %r9
        pushq   %r8
        pushq   %r10
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %rax
        movq    %rsp, %rdi
        pushq   %rbx
        movq    %rsp, %rbx
        andq    $-16, %rsp
        call    dj_syscall_filter
        movq    %rbx, %rsp
        popq    %rbx
        movl    %eax, %r11d
        popq    %rax
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %r10
        popq    %r8
        popq    %r9
        cmpl    $1, %r11d               // kFilterMade: CF; kFilterNothing: ZF; kFilterForks: neither
        ret

// Behind a system call that starts threads, on the new one's stack or, of vfork, the parent's.
// Changes what the system call may change, and nothing else.
dj_child_hook:
        testq   %rax, %rax
        jnz     1f
        pushq   %r9
        pushq   %r8
        pushq   %r10
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %rbx
        movq    %rsp, %rbx
        andq    $-16, %rsp
        call    dj_child_begins
        movq    %rbx, %rsp
        popq    %rbx
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %r10
        popq    %r8
        popq    %r9
        xorl    %eax, %eax
1:      ret

        .section .note.GNU-stack,"",@progbits
