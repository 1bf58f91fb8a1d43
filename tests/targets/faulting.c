// A thread that stands in a signal handler which will return between a function's first bytes: the
// second instruction of reach() reads a page that only the handler, after a line of input, opens.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"

enum { PAGE = 4096, ROUNDS = 4 };
static char* page;

long reach(const char* from);
__asm__(
    ".text\n.p2align 4\n.globl reach\n.type reach,@function\nreach:\n"
    ".cfi_startproc\n"
    "push %rbx\n.cfi_adjust_cfa_offset 8\nmov (%rdi),%rax\npop %rbx\n.cfi_adjust_cfa_offset -8\n"
    "inc %rax\nret\n.cfi_endproc\n.size reach, .-reach\n");

static void on_fault(int number) {
  static const char standing[] = "standing\n";
  char byte = 0;
  (void)number;
  if (write(1, standing, sizeof standing - 1) < 0) _exit(3);
  while (byte != '\n') {
    if (read(0, &byte, 1) != 1) _exit(4);
  }
  mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void* run(void* unused) {
  for (int round = 1; round <= ROUNDS; round++) {
    mprotect(page, PAGE, PROT_NONE);
    if (reach(page) != 42) exit(1);
    fact("reached", round);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page[0] = 41;
  signal(SIGSEGV, on_fault);
  fact("pid", getpid());
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
