// Stacks of all kinds, each told by backtrace() itself: one line a call of leaf(), addresses of its
// callers.
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static volatile int sink;

__attribute__((noinline)) int leaf(int n) {
  void* frames[MOST];
  int count = backtrace(frames, MOST);
  for (int i = 1; i < count; i++) printf("%p%s", frames[i], i + 1 < count ? " " : "\n");
  sink += n;  // LINE:middle
  return n;
}

__attribute__((noinline)) static int plain(int n) { return leaf(n) + 1; }

// A frame whose size is known at run time only: found by rbp.
__attribute__((noinline)) static int sized(int n) {
  char bytes[n * 16];
  memset(bytes, n, sizeof bytes);
  return plain(bytes[0]) + 1;
}

// gcc keeps the caller's stack pointer in the frame, since parameters are on the stack: the rules
// are expressions, those of registers too.
__attribute__((noipa, force_align_arg_pointer)) int on_stack(int n, int b, int c, int d, int e,
                                                             int f, int g) {
  char bytes[n * 8] __attribute__((aligned(64)));
  int kept = rand(), too = rand();
  memset(bytes, n, sizeof bytes);
  return sized(bytes[1]) + kept - too + b + c + d + e + f + g;
}
__attribute__((noinline)) static int realigned(int n) {
  int kept = rand();
  return on_stack(n, kept, 1, 2, 3, 4, 5) + kept;
}

static int compare(const void* a, const void* b) {
  sink += realigned(3);
  return *(const int*)a - *(const int*)b;
}

static void on_signal(int signal) { sink += plain(signal); }

__attribute__((noinline)) static int recurse(int n) {
  int result = n == 0 ? plain(n) : recurse(n - 1);
  sink++;  // no tail call
  return result;
}

// Assembler without call frame information that keeps a frame pointer; backtrace() ends here.
int bare(int (*callee)(int));
__asm__(
    ".type bare, @function\nbare: push %rbp\nmov %rsp, %rbp\nmov %rdi, %rax\nmov $7, %edi\n"
    "call *%rax\npop %rbp\nret\n.size bare, . - bare");

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "bare") == 0) return bare(plain) - 8;
  signal(SIGUSR1, on_signal);
  sink += plain(1);
  sink += sized(2);
  sink += realigned(3);
  int two[] = {2, 1};
  qsort(two, 2, sizeof *two, compare);  // through libc
  raise(SIGUSR1);                       // through the kernel's frame
  sink += recurse(20);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
