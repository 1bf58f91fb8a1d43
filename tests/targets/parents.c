// SPDX-License-Identifier: Apache-2.0
// Asks for its parent so often, by getppid(2), and says so. With a second word, waits until a file of that name exists.
//   parents CALLS [FILE]
#include <stdlib.h>
#include <unistd.h>

#include "facts.h"

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 1;
  while (argc > 2 && access(argv[2], F_OK) != 0) usleep(10000);
  for (long i = 0; i < calls; i++) getppid();
  fact("getppid calls", calls);
  return 0;
}
