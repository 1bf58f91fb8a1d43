// C++ exceptions that pass through functions with entry and return probes.
#include <cstdlib>
#include <stdexcept>

#include "facts.h"

static long leaf_calls, leaf_returns, middle_calls, middle_returns, caught, destroyed;

struct Guard {
  ~Guard() { destroyed++; }
};

extern "C" NOINLINE long leaf(int i) {
  leaf_calls++;
  if (i % 3 == 0) {
    throw std::runtime_error("every third");
  }
  leaf_returns++;
  return i;
}

extern "C" NOINLINE long middle(int i) {
  Guard guard;
  middle_calls++;
  long result = leaf(i) + 1;
  middle_returns++;
  return result;
}

// Catches, and throws on: the exception passes here too every sixth time.
extern "C" NOINLINE long outer(int i) {
  try {
    return middle(i);
  } catch (const std::runtime_error&) {
    if (i % 6 == 0) {
      throw;
    }
    caught++;
    return -1;
  }
}

int main() {
  long passed = 0;
  for (int i = 1; i <= 600; i++) {
    try {
      long result = outer(i);
      if (result != (i % 3 == 0 ? -1 : i + 1)) {
        std::abort();
      }
    } catch (const std::exception&) {
      passed++;
    }
  }
  fact("leaf calls", leaf_calls);
  fact("leaf returns", leaf_returns);
  fact("middle calls", middle_calls);
  fact("middle returns", middle_returns);
  fact("caught", caught);
  fact("passed", passed);
  fact("destroyed", destroyed);
}
// SPDX-License-Identifier: Apache-2.0
