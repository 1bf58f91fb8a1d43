// SPDX-License-Identifier: Apache-2.0
// The gates to the program's handlers of faults (fault_gates.h): entered by the kernel as these
// would be, the return to the signal frame on the stack.
        .text
        .globl  dj_fault_gates
        .hidden dj_fault_gates, dj_fault_begins, dj_fault_ends

        .balign 16
dj_fault_gates:
        .cfi_startproc
        .set    gate, 0
        .rept   16
        movl    $gate, %eax
        jmp     dj_fault_gate
        .balign 16
        .set    gate, gate + 1
        .endr

// On the stack a FaultFrame (faults.cpp). The handler's frame is the only one, as without djtap,
// where nothing has to be done behind it.
dj_fault_gate:
        subq    $88, %rsp
        .cfi_adjust_cfa_offset 88
        movq    %rdi, (%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movl    %eax, %edi
        movq    %rsp, %rsi
        call    dj_fault_begins
        movq    %rax, %r11
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    16(%rsp), %rdx
        xorl    %eax, %eax
        cmpq    $0, 24(%rsp)
        jne     1f
        addq    $88, %rsp
        .cfi_adjust_cfa_offset -88
        jmp     *%r11
        .cfi_adjust_cfa_offset 88
1:      call    *%r11
        movq    %rsp, %rdi
        call    dj_fault_ends
        addq    $88, %rsp
        .cfi_adjust_cfa_offset -88
        ret
        .cfi_endproc

        .section .note.GNU-stack,"",@progbits
