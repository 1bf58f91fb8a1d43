// A loop around a switch by jump table, its cases shorter than a jump: every instruction of pick()
// is where somebody arrives, or near it. Counts its calls and how often each case ran.
#include <stdlib.h>

#include "facts.h"

NOINLINE unsigned long pick(const unsigned char* from, unsigned long size, unsigned long seed) {
  unsigned long h = seed;
  for (unsigned long i = 0; i < size; i++) {
    switch (from[i] & 15) {
      case 0:
        h ^= i;
        break;
      case 1:
        h += from[i] * seed;
        break;
      case 2:
        h = h << 5 | h >> 59;
        break;
      case 3:
        h *= 31;
        break;
      case 4:
        h -= size;
        break;
      case 5:
        h ^= h >> 7;
        break;
      case 6:
        h++;
        __attribute__((fallthrough));
      case 7:
        h--;
        break;
      default:
        h += h * 3 > i ? 3 : 5;
    }
  }
  return h;
}

int main(int argc, char** argv) {
  static unsigned char bytes[256];
  const long calls = argc > 1 ? atol(argv[1]) : 100;
  unsigned long h = 0;
  for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(i * 7);
  for (long i = 0; i < calls; i++) h = h * 5 + pick(bytes, sizeof bytes, (unsigned long)i);
  fact("calls", calls);
  fact("result", (long)(h >> 1));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
