// The second file of the victim "reference": a static variable that the first file has as well.
#include "facts.h"

extern long shared;
static int limit = 7;

NOINLINE long part(long n) {
  return limit + shared + n;
}
// SPDX-License-Identifier: Apache-2.0
