// Children on stacks of their own with painted bytes below, as clone() starts them: how far below
// the child's stack pointer does somebody else write, before its first function runs and in it? A
// fact: the deepest byte of all children.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "facts.h"

enum { CHILDREN = 50, STACK = 16 * 1024, PAINT = 0xa5 };
static char stack[STACK] __attribute__((aligned(16)));
char* child_stack;
int child(void* argument);

// Uses nothing of its stack. It keeps what the stack pointer was, and calls exit.
__asm__(
    ".globl child\n"
    ".type child,@function\n"
    "child:\n"
    "  mov %rsp, child_stack(%rip)\n"
    "  xor %edi, %edi\n"
    "  mov $60, %eax\n"
    "  syscall\n"
    ".size child, .-child\n");

int main(void) {
  long deepest = 0;
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    memset(stack, PAINT, sizeof stack);
    const pid_t pid = clone(child, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) return 1;
    const char* lowest = stack;
    while (*lowest == (char)PAINT) lowest++;
    if (child_stack - lowest > deepest) deepest = child_stack - lowest;
  }
  fact("deepest", deepest);
  fact("children", CHILDREN);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
