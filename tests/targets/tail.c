// Tail calls: front jumps to back, so its return is back's return; last_back returns for both.
#include "facts.h"

static long front_calls, back_calls;

NOINLINE long back(long n) {
  back_calls++;
  return n * 3;
}

NOINLINE long front(long n) {
  front_calls++;
  return back(n + 1);
}

// Several exits: a return in the middle and a conditional one.
NOINLINE long exits(long n) {
  if (n == 0) return -1;
  if (n % 2 == 0) return n / 2;
  return n * 3 + 1;
}

int main(void) {
  long total = 0, steps = 0;
  for (long i = 0; i < 100; i++) total += front(i);
  for (long i = 0; i < 100; i++) {
    total += exits(i);
    steps++;
  }
  fact("front calls", front_calls);
  fact("back calls", back_calls);
  fact("exits calls", steps);
  fact("total", total);
  return 0;
}
