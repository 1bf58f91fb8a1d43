// Locals that nothing uses: optimized code does not compute them, but debug info says how. Built
// with TRUTH they are printed. __int128 as its halves, all with a fraction as
// doubles (~).
#include <stdio.h>

typedef __int128 wide;
typedef long double extended;
typedef __float128 quad;

#define NOINLINE __attribute__((noinline, noclone))
#ifdef TRUTH
static void show_wide(const char* name, wide x) {
  printf("%s=%ld:%lu ", name, (long)(x >> 64), (unsigned long)x);
}
static void show_long(const char* name, long x) { printf("%s=%ld ", name, x); }
static void show_double(const char* name, double x) { printf("%s=~%.17g ", name, x); }
#define SHOW(x) \
  _Generic((x), wide : show_wide, long : show_long, int : show_long, default : show_double)(#x, (x))
#define BEGIN printf("%s ", __func__)
#define END printf("\n")
#else
#define SHOW(x) (void)0
#define BEGIN (void)0
#define END (void)0
#endif

NOINLINE void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }

NOINLINE long product(long a, long b) {
  wide both = (wide)a * b, more = both + a, less = (wide)a - b;
  BEGIN, SHOW(both), SHOW(more), SHOW(less), END;
  sink(a);  // LINE:product
  sink(b);
  return a + b;
}

NOINLINE long whole(long a, long b, const wide* p) {
  wide sum = (wide)a * b + p[0], mix = ((wide)a << 50) - p[1];
  wide bits = ((p[0] & p[1]) ^ ((wide)a | b)) + ~p[1], back = -p[0];
  wide size = p[1] < 0 ? -p[1] : p[1], least = p[0] < p[1] ? p[0] : p[1];
  wide down = (unsigned __int128)p[1] >> 7, halved = p[1] >> 9;
  wide share = p[0] / 1000, rest = p[0] % 1000;
  int below = p[0] < p[1], same = p[0] == p[1];
  int lower = (unsigned __int128)p[0] < (unsigned __int128)p[1];
  BEGIN, SHOW(sum), SHOW(mix), SHOW(bits), SHOW(back), SHOW(size), SHOW(least), SHOW(down);
  SHOW(halved), SHOW(share), SHOW(rest), SHOW(below), SHOW(same), SHOW(lower), END;
  sink(a);  // LINE:whole
  sink(b);
  return a + b;
}

NOINLINE long x87(long a, unsigned long b, const extended* p) {
  extended sum = p[0] + a, dif = p[0] - b, mul = p[0] * p[1], share = p[0] / p[1], back = -p[1];
  extended size = __builtin_fabsl(p[1]), scaled = p[0] * 0.1L;
  int below = p[0] < p[1], same = p[0] == p[1], least = p[0] >= p[1];
  double d = p[0] / 3;
  float f = p[0] / 3;
  long cut = p[1] * 100;
  BEGIN, SHOW(sum), SHOW(dif), SHOW(mul), SHOW(share), SHOW(back), SHOW(size), SHOW(scaled);
  SHOW(below), SHOW(same), SHOW(least), SHOW(d), SHOW(f), SHOW(cut), END;
  sink(a);  // LINE:x87
  sink(b);
  return a + b;
}

NOINLINE long ieee(long a, unsigned long b, const quad* p) {
  quad sum = p[0] + a, dif = p[0] - b, mul = p[0] * p[1], share = p[0] / p[1], back = -p[1];
  quad scaled = p[0] * 0.1Q;
  int below = p[0] < p[1], same = p[0] == p[1], least = p[0] >= p[1];
  double d = p[0] / 3;
  float f = p[0] / 3;
  long cut = p[1] * 100;
  BEGIN, SHOW(sum), SHOW(dif), SHOW(mul), SHOW(share), SHOW(back), SHOW(scaled), SHOW(below);
  SHOW(same), SHOW(least), SHOW(d), SHOW(f), SHOW(cut), END;
  sink(a);  // LINE:ieee
  sink(b);
  return a + b;
}

// Half way between two floats but for the last bit, which a double does not keep.
NOINLINE long converted(long a, unsigned long b, double x, float y) {
  float once = a, large = b, both = (wide)a * b;
  double twice = (wide)a * b;
  extended e = a, e_both = (wide)a * b, e_mul = (extended)x * y;
  quad q = a, q_both = (wide)a * b, q_mul = (quad)x * y;
  wide cut = x * 4, small = (wide)y;
  BEGIN, SHOW(once), SHOW(large), SHOW(both), SHOW(twice), SHOW(e), SHOW(e_both), SHOW(e_mul);
  SHOW(q), SHOW(q_both), SHOW(q_mul), SHOW(cut), SHOW(small), END;
  sink(a);  // LINE:converted
  sink(b);
  return a + b;
}

// After the call only the caller knows what it has given.
NOINLINE long given(quad x, long k, double d) {
  quad twice = x * 2;
  BEGIN, SHOW(x), SHOW(twice), END;
  sink(k);
  sink(1);  // LINE:given
  return 3;
}

int main(void) {
  long all = 0;
  for (long i = 1; i < 6; i++) {
    const wide w[2] = {(wide)i * 0x123456789abcdefL * 1000003, (wide)(i - 3) * 99 << 77 | 12345};
    const extended e[2] = {i * 1.1L, (i - 3) / 7.0L};
    const quad q[2] = {i * 1.1Q, (i - 3) / 7.0Q};
    sink((long)w), sink((long)e), sink((long)q);
    all += product(i * 1000000007L, (i - 4) * 0x1000000123L);
    all += whole(i * 1000000007L, (i - 4) * 0x1000000123L, w);
    all += x87(i * 1000000007L, 0x8000000000000001UL - i, e);
    all += ieee(i * 1000000007L, 0x8000000000000001UL - i, q);
    all += converted(0x4000004000000000L + i, 0x8000008000000003UL - i, i * 1e20 + 0.5, i - 3.25f);
  }
  all += given(1.5Q, 7, 1.5) + given(-2.25Q, 8, 2.5);
  return all == 0;
}
// SPDX-License-Identifier: Apache-2.0
