// Local functions whose compiler knows all calls: it takes away parameters that are constants, what
// a pointer leads to goes in the pointer's place, and results that no caller uses are not returned.
// Prints what each is called with and returns by the source.
#include <stdio.h>

#define KEPT static __attribute__((noinline))

struct two {
  long x, y;
};

KEPT void touch(void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }
KEPT long kept(long a, long b) {
  touch(&b);
  return a + b;
}
KEPT long constant(long a, long b, long c) {
  touch(&a);
  touch(&b);
  touch(&c);
  return a + b + c;
}
KEPT long pointed(const struct two* p, long c) {
  touch(&c);
  return p->x + p->y + c;
}
KEPT struct two half(long a) {
  touch(&a);
  return (struct two){a, a + 1};
}
KEPT struct two whole(long a) {
  touch(&a);
  return (struct two){a, a + 2};
}
KEPT long unused(long a) {
  touch(&a);
  return a * 3;
}
KEPT long handed(long a) {
  touch(&a);
  return a * 5;
}
KEPT long handing(long a) {
  const long got = handed(a + 1);
  touch(&a);
  return got;
}

int main(int argc, char** argv) {
  (void)argv;
  struct two two = {argc + 5, argc + 6};
  const struct two all = whole(argc + 8);
  printf("%ld %ld %ld %ld %ld %ld\n", kept(argc, argc + 1), constant(argc, 5, argc + 2), pointed(&two, argc + 4), half(argc + 6).y, all.x, all.y);
  unused(argc + 7);
  handing(argc + 9);
  puts("truth kept a=1 b=2 =3");
  puts("truth constant a=1 b=5 c=3 =9");
  puts("truth pointed c=5 =18");
  puts("truth half a=7 x=7 y=8");
  puts("truth whole a=9 x=9 y=11");
  puts("truth unused a=8 =24");
  puts("truth handed a=11 =55");
  puts("truth handing a=10 =55");
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
