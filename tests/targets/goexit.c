// Ends like Go's goroutines: they begin with a return address that nobody has called from, one byte
// behind the beginning of runtime.goexit (runtime.newproc1, Go 1.2 to today), and return there.
//   goexit ROUNDS
#include <stdlib.h>

#include "facts.h"

static long ended;
void goroutine(void* entry);
void count_end(void) { ended++; }

__asm__(
    ".text\n.globl goroutine\n.type goroutine,@function\ngoroutine:\n"  // runs a function, then goexit
    "mov $1,%eax\nadd %rdi,%rax\npush %rax\nret\n.size goroutine, .-goroutine\n"
    ".p2align 4\n.globl \"runtime.goexit.abi0\"\n.type \"runtime.goexit.abi0\",@function\n"
    "\"runtime.goexit.abi0\":\nnop\ncall count_end\nnop\nret\n"
    ".size \"runtime.goexit.abi0\", .-\"runtime.goexit.abi0\"\n");
extern char go_exit[] __asm__("runtime.goexit.abi0");

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1;
  for (long i = 0; i < rounds; i++) goroutine(go_exit);
  fact("ended", ended);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
