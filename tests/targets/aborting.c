// A restartable sequence (rseq) that a fault interrupts each time: the kernel leads the thread to the abort address, in front
// of which it wants to find the signature.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/rseq.h>

#include "facts.h"

int try_to_read(const int* from, struct rseq* area);  // 0: read, 1: interrupted
__asm__(
    ".pushsection __rseq_cs, \"aw\"\n"
    ".balign 32\n"
    "9: .long 0, 0\n"
    ".quad sequence_begin, sequence_end - sequence_begin, sequence_abort\n"
    ".popsection\n"
    ".text\n"
    ".balign 16\n"
    ".globl try_to_read\n"
    ".type try_to_read, @function\n"
    "try_to_read:\n"
    "leaq 9b(%rip), %rax\n"
    "movq %rax, 8(%rsi)\n"
    "sequence_begin:\n"
    "movl (%rdi), %eax\n"
    "xorl %eax, %eax\n"
    "sequence_end:\n"
    "ret\n"
    ".byte 0x0f, 0xb9, 0x3d\n"  // ud1: makes the signature an instruction
    ".long 0x53053053\n"
    "sequence_abort:\n"
    "movl $1, %eax\n"
    "ret\n"
    ".size try_to_read, . - try_to_read\n");

enum { CALLS = 100 };
static int* page;

static void allow(int signal) {
  (void)signal;
  mprotect(page, 4096, PROT_READ);
}

int main(void) {
  struct rseq* area = (struct rseq*)((char*)__builtin_thread_pointer() + __rseq_offset);
  long interrupted = 0, read = 0;
  if (__rseq_size == 0) return 3;
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGSEGV, allow);
  for (int i = 0; i < CALLS; i++) {
    mprotect(page, 4096, PROT_NONE);
    interrupted += try_to_read(page, area);
    read += 1 - try_to_read(page, area);
  }
  fact("interrupted", interrupted);
  fact("read", read);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
