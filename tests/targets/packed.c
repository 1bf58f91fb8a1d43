// Bit-fields of a packed struct: they begin at any bit and lie across words, one in nine bytes.
#include "facts.h"

struct __attribute__((packed)) packed {
  unsigned a : 3;
  unsigned long wide : 63;  // bits 3 to 65
  int negative : 5;
  long most : 62;  // from bit 71 on
  unsigned b : 27;
  long last : 40;  // from bit 160 on
  unsigned c : 1;
};

volatile long sink;

NOINLINE void take(const struct packed* packed) { sink += packed->b; }

int main(void) {
  struct packed packed = {5, 0x7123456789abcdefUL, -3, -0x1234567890abcdefL, 0x5a5a5a5, -0x7654321098L, 1};
  for (int i = 0; i < 3; i++) {
    fact("a", packed.a);
    fact("wide", (long)packed.wide);
    fact("negative", packed.negative);
    fact("most", packed.most);
    fact("b", packed.b);
    fact("last", packed.last);
    fact("c", packed.c);
    take(&packed);
    packed.wide = ~packed.wide, packed.most = ~packed.most, packed.last = -packed.last;
    packed.a++, packed.negative = ~packed.negative, packed.c = !packed.c;
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
