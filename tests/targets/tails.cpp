// Functions that end in tail calls, on the way to every kind of callee: the caller of the first
// sees the result of the last. Counts calls and returns, and sums results, from outside.
#include <setjmp.h>
#include <stdlib.h>

#include <stdexcept>

#include "facts.h"

#define FUNCTION extern "C" NOINLINE
struct Truth {
  long calls, returns, sum;
};
static Truth direct, chained, in_library, mutual, through_pointer, thrown, jumped, scaled;
static jmp_buf back_here;
static volatile long sink;

FUNCTION long last(long n) { return n * 3 + 1; }
FUNCTION long first(long n) { return last(n + 1); }

FUNCTION long third(long n) { return n % 5 == 0 ? -n : last(n ^ 6); }
FUNCTION long second(long n) { return n % 4 == 0 ? n : third(n + 2); }
FUNCTION long chain(long n) { return n % 3 == 0 ? 7 : second(n * 2); }

FUNCTION long odd(long n);
FUNCTION long even(long n) { return n == 0 ? 1 : odd(n - 1); }
FUNCTION long odd(long n) { return n == 0 ? 0 : even(n - 1); }

static const char* const kNumbers[] = {"17", "-4", "900", "0"};
FUNCTION long imported(long n) { return n % 5 == 0 ? n : atol(kNumbers[n % 4]); }

static long (*volatile elsewhere)(long) = last;
FUNCTION long pointer(long n) { return n % 2 == 0 ? n * 5 : elsewhere(n); }

FUNCTION long throwing(long n) {
  if (n % 3 == 0) throw std::runtime_error("third");
  return n + 100;
}
FUNCTION long to_throwing(long n) { return throwing(n + 1); }

FUNCTION long jumping(long n) {
  if (n % 7 == 0) longjmp(back_here, 1);
  return n - 100;
}
FUNCTION long to_jumping(long n) { return jumping(n * 2); }

// Another one stands where the thrown call stood, in the same frame and with the same way back.
static long (*volatile callee)(long);
static long call_it(long n, Truth& truth, bool counts) {
  truth.calls += counts;
  long result = 0;
  try {
    result = callee(n);
    truth.returns += counts;
    truth.sum += counts ? result : 0;
  } catch (const std::runtime_error&) {
  }
  return result;
}

static void count(Truth& truth, long (*function)(long), long n) {
  truth.calls++;
  long result = function(n);
  truth.returns++;
  truth.sum += result;
}

static void jump_often() {
  static long i;
  for (i = 0; i < 70; i++) {
    if (setjmp(back_here) == 0) count(jumped, to_jumping, i);
  }
}

static void tell(const char* name, const Truth& truth) {
  printf("%s calls: %ld\n%s returns: %ld\n%s sum: %ld\n", name, truth.calls, name, truth.returns,
         name, truth.sum);
}

int main() {
  for (long i = 0; i < 300; i++) {
    count(direct, first, i);
    sink = last(i);
    count(chained, chain, i);
    sink = third(i);
    count(through_pointer, pointer, i);
    count(in_library, imported, i);
    count(scaled, i % 2 ? chain : first, i);
    callee = to_throwing;
    call_it(i, thrown, true);
    callee = throwing;
    sink = call_it(i, thrown, false);
  }
  for (long i = 0; i < 60; i++) count(mutual, even, i);
  jump_often();
  tell("direct", direct);
  tell("chained", chained);
  tell("in library", in_library);
  tell("through pointer", through_pointer);
  tell("thrown", thrown);
  tell("mutual", mutual);
  tell("jumped", jumped);
  tell("scaled", scaled);
}
// SPDX-License-Identifier: Apache-2.0
