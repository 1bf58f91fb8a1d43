// Opens, calls and closes a library on stdin's orders: open, open N (the N-th one), call N, close,
// quit.
//   plugin LIBRARY...
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

int main(int argc, char** argv) {
  char line[64];
  void* library = NULL;
  long total = 0;
  if (argc < 2) return 2;
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "open", 4) == 0) {
      int which = line[4] == ' ' ? line[5] - '0' : 1;  // no call: others' are counted
      library = dlopen(argv[which > 0 && which < argc ? which : 1], RTLD_NOW);
      fact("opened", library != NULL);
    } else if (strncmp(line, "call ", 5) == 0) {
      long (*work)(long) = (long (*)(long))dlsym(library, "lib_work");
      long n = atol(line + 5);
      for (long i = 0; i < n; i++) {
        if (work(i) != i + 1) abort();
      }
      total += n;
      fact("called", n);
    } else if (strncmp(line, "close", 5) == 0) {
      fact("closed", dlclose(library));
    } else if (strncmp(line, "quit", 4) == 0) {
      break;
    }
  }
  fact("total", total);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
