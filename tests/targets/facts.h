// What every victim shares: a way to print ground truth, and functions the optimizer leaves alone.
#pragma once
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

#ifdef __cplusplus
extern "C" {
#endif

// One line of truth: "name: value". The tests read them back with support/run.py, facts().
static inline void fact(const char* name, long value) {
  printf("%s: %ld\n", name, value);
  fflush(stdout);
}

#ifdef __cplusplus
}
#endif
// SPDX-License-Identifier: Apache-2.0
