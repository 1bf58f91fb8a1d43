// Calls work() ten times, then ends as told: "exit N", "signal N", or "exec PROGRAM ARGS...".
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

static long calls;

NOINLINE long work(long n) {
  calls++;
  return n;
}

int main(int argc, char** argv) {
  for (long i = 0; i < 10; i++) work(i);
  fact("work calls", calls);
  if (argc < 3) return 0;
  if (strcmp(argv[1], "exit") == 0) return atoi(argv[2]);
  if (strcmp(argv[1], "signal") == 0) raise(atoi(argv[2]));
  if (strcmp(argv[1], "exec") == 0) execvp(argv[2], argv + 2);
  return 99;
}
// SPDX-License-Identifier: Apache-2.0
