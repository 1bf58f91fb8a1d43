// SDT marks whose operands the compiler names by symbols, as it does for variables of the file, and
// numbers with a fraction.
#include "facts.h"
#include "sdt_note.h"

#define NOTE(name, operands) SDT_NOTE("victim", name, "0", operands)

int counter = 5;
static int hidden = -6;
long table[3] = {7, 8, 9};
double ratio = 0.25;

NOINLINE void named(void) {
  __asm__ volatile(NOTE("named", "-4@%0 -4@%1 8@%2 -8@%3")
                   :
                   : "m"(counter), "m"(hidden), "m"(table[1]), "m"(table[2]));
}

NOINLINE void fractions(double wide, float narrow) {
  __asm__ volatile(NOTE("fractions", "8f@%0 4f@%1 8f@%2 -4f@%3")
                   :
                   : "x"(wide), "x"(narrow), "m"(ratio), "m"(narrow));
}

int main(void) {
  for (int n = 0; n < 3; n++) {
    counter += n;
    hidden -= n;
    table[1] *= 2;
    named();
    fractions(1.5 * n, -0.5f);
    ratio *= 2;
  }
  fact("counter", counter);
  fact("hidden", hidden);
  fact("table", table[1]);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
