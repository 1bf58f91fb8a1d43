// SPDX-License-Identifier: Apache-2.0
// Calls work(), and on a line of stdin executes argv[1], a setuid program.
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int work(int x) {
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}

int main(int argc, char** argv) {
  (void)argc;
  printf("pid: %d\n", getpid());
  fflush(stdout);
  for (struct pollfd input = {0, POLLIN, 0}; poll(&input, 1, 1) == 0;) work(1);
  execl(argv[1], argv[1], (char*)0);
  return 1;
}
