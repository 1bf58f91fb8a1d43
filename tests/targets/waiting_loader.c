// A program loader that waits for ever, as one does that is asked for something by a pipe or a lock.
__attribute__((aligned(16))) void _dl_debug_state(void) { __asm__ volatile(".p2align 4, 0x90"); }

__asm__(".globl _start; .p2align 4; _start: mov $34,%eax; syscall; jmp _start");  // pause()
// SPDX-License-Identifier: Apache-2.0
