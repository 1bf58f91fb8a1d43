// Opens a directory's 0.so, 1.so and so on, one after the other, and says of each how long that
// took and how often the library has been called by then.
//   many_objects DIRECTORY NUMBER
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include "facts.h"

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int i = 0; i < atoi(argv[2]); i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.so", argv[1], i);
    const long begin = now_ns();
    if (dlopen(path, RTLD_NOW) == NULL) return 3;
    fact("opened in ns", now_ns() - begin);
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
