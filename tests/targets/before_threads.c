// Code that runs before main(), of a static program also before its thread is set up: a resolver of an IFUNC, .preinit_array and
// a constructor. Prints how often each was called. WAITS: the resolver waits until the fs base is what it is in a program that
// nobody traces.
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noipa, no_stack_protector))

static int picked, resolved, prepared, constructed;
static __thread int own = 3;

APART long pick(long kind) {
  picked++;
  return kind * 2;
}

APART long twice(long n) { return 2 * n; }

#ifndef NO_IFUNC
// No relocation is done yet, and no thread set up.
APART void* resolver(void) {
  resolved++;
  for (long i = 1; i < 4; i++) pick(i);
#ifdef WAITS
  while (__builtin_ia32_rdfsbase64() != 0) pick(0);
#endif
  return twice;
}
long chosen(long n) __attribute__((ifunc("resolver")));
#else
long chosen(long n) { return twice(n); }
#endif

// A tail call of what the resolver has chosen.
APART long through(long n) { return chosen(n); }

APART void prepare(int argc) {
  prepared++;
  pick(argc);
}
#ifndef NO_PREINIT
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int) = prepare;
#endif

APART void construct(void) {
  constructed++;
  pick(own);
}
__attribute__((constructor)) static void at_start(void) { construct(); }

int main(void) {
  long sum = 0;
  for (long i = 0; i < 10; i++) sum += through(i);
  own += (int)pick(sum);
  printf("pick: %d\nresolver: %d\nprepare: %d\nconstruct: %d\nown: %d\n", picked, resolved, prepared, constructed, own);
  return own == 0;
}
// SPDX-License-Identifier: Apache-2.0
