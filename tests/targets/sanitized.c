// Built with AddressSanitizer by its test: peek() reads by a good pointer, then by a null one.
#include "facts.h"

NOINLINE int peek(const int* from) { return from[3]; }
NOINLINE int outer(const int* from) { return peek(from) + 1; }

int main(int argc, char** argv) {
  (void)argv;
  const int here[] = {1, 2, 3, 4};
  fact("peeked", outer(here));
  return outer(argc > 5 ? here : NULL);
}
// SPDX-License-Identifier: Apache-2.0
