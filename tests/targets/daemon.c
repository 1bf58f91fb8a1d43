// A daemon as daemon(7) has them: it forks twice, and both parents are gone before it works.
//   daemon FILE    the daemon's number is written there; it works until it gets a signal
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

NOINLINE int serve(int n) {
  __asm__ volatile("");
  return n + 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  serve(1);
  if (fork() != 0) exit(0);
  setsid();
  if (fork() != 0) exit(0);
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) return 1;
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  for (int fd = 0; fd < 64; fd++) close(fd);
  for (int n = 0;; n = serve(n)) usleep(1000);
}
// SPDX-License-Identifier: Apache-2.0
