// Functions that leave in every way that C has; compiled with all kinds of options. Each counts its calls,
// and those of them that longjmp has left.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define FUNCTIONS(X)                                                                            \
  X(leaf) X(tiny) X(branches) X(chooses) X(steps) X(hops) X(direct) X(maybe) X(even) X(odd)     \
  X(fib) X(thrower) X(frame) X(sized) X(many) X(rare) X(imported) X(applies) X(pointer)         \
  X(method) X(program)
enum {
#define X(f) k_##f,
  FUNCTIONS(X)
#undef X
  kFunctions
};
static long calls[kFunctions], left[kFunctions];
#define CALLED(f) calls[k_##f]++
volatile long sink;

NOINLINE long leaf(long n) {
  CALLED(leaf);
  return n * 3 + 1;
}

NOINLINE long tiny(long n) {
  CALLED(tiny);
  return n;
}

NOINLINE long branches(long n) {
  CALLED(branches);
  if (n == 0) return -1;
  if (n % 2 == 0) {
    sink = n;
    return n / 2;
  }
  if (n % 7 == 3) return leaf(n) + 4;
  return n * 3 + 1;
}

NOINLINE long chooses(long n) {
  CALLED(chooses);
  switch (n % 9) {
    case 0:
      sink = 3;
      return n;
    case 1:
      return n * 7;
    case 2:
      sink += 4;
      return n ^ 5;
    case 3:
      return leaf(n);
    case 4:
      return n / 3;
    case 5:
      return tiny(n) + 1;
    case 6:
      sink = n;  // falls through
    case 7:
      return n << 4;
    default:
      return ~n;
  }
}

// A computed goto; its variables live below the stack pointer where the ABI allows that.
NOINLINE long steps(long n) {
  CALLED(steps);
  static const void* const blocks[] = {&&inc, &&twice, &&neg, &&end};
  static const char codes[4][6] = {{0, 1, 0, 3}, {1, 1, 3}, {2, 0, 0, 1, 3}, {3}};
  const char* code = codes[n & 3];
  volatile long kept = n;
  goto* blocks[(int)*code++];
inc:
  kept++;
  goto* blocks[(int)*code++];
twice:
  kept *= 2;
  goto* blocks[(int)*code++];
neg:
  kept = -kept;
  goto* blocks[(int)*code++];
end:
  return kept;
}

// Another one, whose table is on the stack.
NOINLINE long hops(long n) {
  CALLED(hops);
  const void* blocks[] = {&&left_side, &&right_side, &&end};
  volatile long kept = n;
  goto* blocks[n % 3];
left_side:
  kept += 5;
  goto* blocks[1 + n % 2];
right_side:
  kept += 7;
end:
  return kept;
}

NOINLINE long direct(long n) {
  CALLED(direct);
  return leaf(n + 1);
}

NOINLINE long maybe(long n) {
  CALLED(maybe);
  return n & 3 ? leaf(n) : n + 7;
}

NOINLINE long odd(long n);
NOINLINE long even(long n) {
  CALLED(even);
  return n == 0 ? 1 : odd(n - 1);
}
NOINLINE long odd(long n) {
  CALLED(odd);
  return n == 0 ? 0 : even(n - 1);
}

NOINLINE long fib(long n) {
  CALLED(fib);
  if (n < 2) return n;
  const long a = fib(n - 1);
  return a - 40 / (fib(n - 2) | 1);
}

static jmp_buf env;
NOINLINE long thrower(long n) {
  CALLED(thrower);
  if (n % 3 == 0) {
    left[k_thrower]++;
    longjmp(env, 1);
  }
  return leaf(n);
}

NOINLINE long frame(long n) {
  CALLED(frame);
  char block[20000];
  memset(block, (int)n, sizeof block);
  sink = block[n];
  return tiny(n) + block[n + 1];
}

NOINLINE long sized(long n) {
  CALLED(sized);
  char block[n * 100 + 1];
  memset(block, (int)n, sizeof block);
  sink = block[n];
  return leaf(n) + block[n];
}

NOINLINE long many(int count, ...) {
  CALLED(many);
  va_list list;
  va_start(list, count);
  long sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(list, long);
  va_end(list);
  return sum;
}

NOINLINE __attribute__((cold)) void complain(long n) { sink += n; }
NOINLINE long rare(long n) {
  CALLED(rare);
  if (__builtin_expect(n % 10 == 0, 0)) {
    complain(n);
    complain(n + 1);
    return leaf(n) - 1;
  }
  return n + sink;
}

static char digits[] = "4711";
NOINLINE long imported(long n) {
  CALLED(imported);
  digits[0] = (char)('1' + n % 9);
  return atol(digits);
}

static long (*const targets[])(long) = {leaf, branches, tiny, chooses};
struct Methods {
  long (*first)(long), (*second)(long);
};
struct Methods methods = {leaf, tiny};

NOINLINE long applies(long n) {
  CALLED(applies);
  return targets[n & 3](n) + methods.first(n);
}

NOINLINE long pointer(long n) {
  CALLED(pointer);
  return targets[n & 3](n);
}

NOINLINE long method(struct Methods* of, long n) {
  CALLED(method);
  return of->second(n);
}

NOINLINE long program(const char* code, long n) {
  CALLED(program);
  static const void* const blocks[] = {&&inc, &&twice, &&call};
  goto* blocks[*code++ - '0'];
inc:
  n++;
  goto* blocks[*code++ - '0'];
twice:
  n *= 2;
  goto* blocks[*code++ - '0'];
call:
  return targets[n & 1](n);
}

int main(void) {
  volatile unsigned long total = 0;
  for (long i = 0; i < 100; i++) {
    total += leaf(i) + tiny(i) + branches(i) + chooses(i) + steps(i) + hops(i) + direct(i) + maybe(i);
    total += even(i % 9) + odd(i % 5) + fib(i % 7);
    if (setjmp(env) == 0) total += thrower(i);
    total += frame(i) + sized(i) + many(3, i, i + 1, i + 2L) + rare(i) + imported(i) + applies(i);
    total += pointer(i) + method(&methods, i) + program(i % 2 ? "010112" : "1102", i);
  }
#define X(f) printf(#f " calls: %ld\n" #f " returns: %ld\n", calls[k_##f], calls[k_##f] - left[k_##f]);
  FUNCTIONS(X)
#undef X
  printf("total: %ld\n", (long)(total >> 1));
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
