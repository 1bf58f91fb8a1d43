// SPDX-License-Identifier: Apache-2.0
// Runs code on an own stack (own_stack.h) where the program's may have no room. Who comes here has
// its stack pointer below the first thread's stack.
        .text
        .globl  dj_find_room
        .hidden dj_find_room, dj_own_stack_begins, dj_own_stack_missed, dj_has_rseq

        .set    kStacks, 128            // own_stack.cpp compares these with own_stack.h
        .set    kPages, 256
        .set    kStackShift, 16
        .set    kRunsFromWords, 5841016 // ThreadTable::own_stack_runs from own_stacks.taken
        .set    kStackMask, (1 << kStackShift) - 1
        .set    kTopBytes, 128
        .set    kTop, (1 << kStackShift) - kTopBytes
        .set    kProgramStack, 0        // OwnStackTop
        .set    kRax, 8
        .set    kRecord, 16
        .set    kTaken, 24
        .set    kMark, 32
        .set    kMasked, 40
        .set    kRcx, 48
        .set    kRdx, 56
        .set    kRsi, 64
        .set    kRdi, 72
        .set    kR10, 80
        .set    kSignalStack, 88
        .set    kAllSignals, 112
        .set    kOldMask, 120
        .set    kFromEnd, 1 - kTopBytes // of OwnStackTop from the stack's last byte
        .set    kOwnStackMark, 0x6b436174
        .set    kWords, 8               // OwnStackRecord
        .set    kMust, 12
        .set    kMustHere, 2
        .set    kRoom, 16384            // on a thread's own stack, its guard pages included
        .set    kPageShift, 12
        .set    kWordShift, 3
        .set    kSigprocmask, 14
        .set    kSigaltstack, 131
        .set    kDenied, 0x4000100      // asked_bit() of both
        .set    kSetMask, 2             // SIG_SETMASK

        // What a system call changes, or gets, and rdx. rbx: OwnStackTop.
        .macro  save_for_call
        movq    %rcx, kRcx(%rbx)
        movq    %rdx, kRdx(%rbx)
        movq    %rsi, kRsi(%rbx)
        movq    %rdi, kRdi(%rbx)
        movq    %r10, kR10(%rbx)
        .endm
        .macro  restore_behind_call
        movq    kRcx(%rbx), %rcx
        movq    kRdx(%rbx), %rdx
        movq    kRsi(%rbx), %rsi
        movq    kRdi(%rbx), %rdi
        movq    kR10(%rbx), %r10
        .endm

// r11: address of an OwnStackRecord. All other registers are the code's, as is what lies above the
// return address; it returns to that, its results in rax and rdx.
// Takes 8 bytes of the program's stack.
dj_find_room:
        .cfi_startproc
        pushq   %rbx
        .cfi_def_cfa_offset 16
        .cfi_rel_offset %rbx, 0

        // A thread's own stack ends above its control block. The first thread's block has 0 here.
        cmpl    $0, dj_has_rseq(%rip)
        je      .Ltake
        movq    %fs:dj_stack_block, %rbx
        testq   %rbx, %rbx
        jz      .Ltake
        addq    %fs:dj_stack_block+8, %rbx
        cmpq    %fs:16, %rbx
        jbe     .Ltake
        cmpq    %fs:16, %rsp
        jae     .Ltake
        movq    %fs:dj_stack_block, %rbx
        addq    $kRoom, %rbx
        cmpq    %rbx, %rsp
        jae     .Lhere

        // The first try is by the page of the stack pointer; rbx: a stack's word.
.Ltake: movq    %rsp, %rbx
        shrq    $kPageShift, %rbx
        andl    $(kStacks / 2 - 1), %ebx
        shll    $kWordShift, %ebx
        addl    $dj_own_stack_words, %ebx
.Ltry:  lock btsl $0, (%rbx)
        jnc     .Ltook
.Lnext: addl    $(1 << kWordShift), %ebx
        cmpl    $(dj_own_stack_words + (kStacks << kWordShift)), %ebx
        jb      .Ltry
        cmpl    $0, kMust(%r11)
        jne     .Lhere
        call    dj_own_stack_missed
        popq    %rbx
        .cfi_remember_state
        .cfi_def_cfa_offset 8
        .cfi_restore %rbx
        ret
        .cfi_restore_state

        // Not the one that the program runs on: in a forked child it may look free (forked.cpp).
.Ltook: subl    $dj_own_stack_words, %ebx
        shll    $(kStackShift - kWordShift), %ebx
        addl    $(dj_own_stacks + kTop), %ebx
        xorq    %rsp, %rbx
        cmpq    $kStackMask, %rbx
        jbe     .Lbelow_us
        xorq    %rsp, %rbx
        movq    %rax, kRax(%rbx)
        movq    %r11, kRecord(%rbx)
        movq    %rsp, kProgramStack(%rbx)
        movq    $kOwnStackMark, kMark(%rbx)
        movq    $0, kMasked(%rbx)
        movq    %rbx, %rax
        subq    $dj_own_stacks, %rax
        shrq    $kStackShift, %rax
        leaq    dj_own_stack_words(,%rax,8), %rax
        movq    %rax, kTaken(%rbx)
        movq    %rsp, %rax
        shrq    $kPageShift, %rax
        movl    %eax, %r11d
        andl    $(kPages - 1), %r11d
        cmpq    %rax, dj_own_stack_words+8*kStacks(,%r11,8)
        jne     .Lask
.Lgo:   xchgq   %rsp, %rbx
        .cfi_remember_state
        .cfi_def_cfa_register %rbx
        call    dj_own_stack_begins     // changes r11 alone
        movq    kRecord(%rsp), %r11

        // The stack arguments, the last one first.
        movl    kWords(%r11), %eax
        jmp     2f
1:      pushq   8(%rbx,%rax,8)
        decl    %eax
2:      testl   %eax, %eax
        jnz     1b
        movq    %rsp, %r11
        orq     $kStackMask, %r11
        movq    kRax+kFromEnd(%r11), %rax
        movq    kRecord+kFromEnd(%r11), %r11
        call    *(%r11)
        movq    %rsp, %r11
        orq     $kStackMask, %r11
        movq    %rbx, %rsp
        .cfi_restore_state
        cmpl    $0, kMasked+kFromEnd(%r11)
        jne     .Lunmask
.Lgive: movq    kTaken+kFromEnd(%r11), %r11
        popq    %rbx
        .cfi_remember_state
        .cfi_def_cfa_offset 8
        .cfi_restore %rbx
        movq    $0, kRunsFromWords(%r11)
        movq    $0, (%r11)
        ret
        .cfi_restore_state

.Lbelow_us:
        xorq    %rsp, %rbx
        subl    $(dj_own_stacks + kTop), %ebx
        shrl    $(kStackShift - kWordShift), %ebx
        addl    $dj_own_stack_words, %ebx
        jmp     .Lnext

        // A signal that comes while the thread has left its signal stack would begin that anew, over
        // the frames on it. So none comes.
.Lask:  save_for_call
        testl   $kDenied, dj_denied_calls
        jnz     .Lback
        movl    $kSigaltstack, %eax
        xorl    %edi, %edi
        leaq    kSignalStack(%rbx), %rsi
        syscall
        movq    %rsp, %rax
        subq    kSignalStack(%rbx), %rax
        cmpq    kSignalStack+16(%rbx), %rax
        jb      3f
        movq    %rsp, %rax
        shrq    $kPageShift, %rax
        movl    %eax, %r11d
        andl    $(kPages - 1), %r11d
        movq    %rax, dj_own_stack_words+8*kStacks(,%r11,8)
        jmp     .Lback
3:      movq    kRecord(%rbx), %r11
        cmpl    $kMustHere, kMust(%r11)
        je      .Lthere
        movl    $kSigprocmask, %eax
        movl    $kSetMask, %edi
        movq    $-1, kAllSignals(%rbx)
        leaq    kAllSignals(%rbx), %rsi
        leaq    kOldMask(%rbx), %rdx
        movl    $8, %r10d
        syscall
        movq    $1, kMasked(%rbx)
.Lback: restore_behind_call
        jmp     .Lgo

.Lunmask:
        leaq    kFromEnd(%r11), %rbx
        movq    %rax, kRax(%rbx)
        save_for_call
        movl    $kSigprocmask, %eax
        movl    $kSetMask, %edi
        leaq    kOldMask(%rbx), %rsi
        xorl    %edx, %edx
        movl    $8, %r10d
        syscall
        movq    kRax(%rbx), %rax
        restore_behind_call
        leaq    -kFromEnd(%rbx), %r11
        jmp     .Lgive

        // Where the program runs; .Lthere: the own stack is not needed.
.Lthere:
        restore_behind_call
        movq    kRax(%rbx), %rax
        movq    kTaken(%rbx), %rbx
        movq    $0, (%rbx)
.Lhere: popq    %rbx
        .cfi_def_cfa_offset 8
        .cfi_restore %rbx
        jmp     *(%r11)
        .cfi_endproc

        .section .note.GNU-stack,"",@progbits
