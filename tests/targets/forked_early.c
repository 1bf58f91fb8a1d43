// A process that forks, and then opens a library that its child does not have:
//   forked_early LIBRARY
// The child, when the library is there, looks at its own stack three calls deep.
#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"

NOINLINE int leaf(void) {
  void* frames[32];
  return backtrace(frames, 32);
}
NOINLINE int deep(int n) {
  const int found = n == 0 ? leaf() : deep(n - 1);
  return found + (n < 0);
}

int main(int argc, char** argv) {
  int gate[2];
  char byte;
  if (argc < 2 || pipe(gate) != 0) return 2;
  fact("frames", leaf());  // what backtrace() needs is opened
  const pid_t child = fork();
  if (child == 0) {
    close(gate[1]);
    if (read(gate[0], &byte, 1) < 0) return 1;
    fact("frames in the child", deep(2));
    return 0;
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  long (*one_round)(long) = library ? (long (*)(long))dlsym(library, "one_round") : NULL;
  for (int i = 0; i < 100 && one_round; i++) {
    one_round(i);
    usleep(10000);  // until its probes are there
  }
  close(gate[0]);
  close(gate[1]);
  int status = -1;
  waitpid(child, &status, 0);
  fact("child status", status);
  return library ? 0 : 2;
}
// SPDX-License-Identifier: Apache-2.0
