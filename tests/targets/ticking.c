// A counter that ticks 500 times, also in a struct and for each thread, and then stands.
//   ticking wait    then waits until stdin ends
#include "facts.h"

long ticks;
static _Thread_local long own_ticks;
struct {
  int last;
  const char* name;
} clock_face = {0, "tower"};

NOINLINE void tick(int n) {
  ticks++;
  own_ticks++;
  clock_face.last = n;
}

NOINLINE void seen(void) { __asm__ volatile(""); }

int main(int argc, char** argv) {
  (void)argv;
  for (int n = 1; n <= 500; n++) tick(n);
  fact("ticks", ticks);
  fact("own", own_ticks);
  seen();
  while (argc > 1 && getchar() != EOF) continue;
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
