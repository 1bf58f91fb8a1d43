// An SDT mark whose note says that its semaphore lies where nothing is mapped.
#include "facts.h"
#include "sdt_note.h"

NOINLINE void marked(long n) {
  __asm__ volatile(SDT_NOTE("victim", "lost", "0x123456789000", "-8@%0") : : "r"(n));
}

int main(void) {
  fact("ready", 1);
  getchar();
  for (long n = 0; n < 10; n++) {
    marked(n);
  }
  fact("marks", 10);
  getchar();
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
