// SDT marks as sys/sdt.h makes them, written out so that every form of operand occurs: registers,
// a constant, memory, signed and short ones; one mark with a semaphore.
#include "facts.h"
#include "sdt_note.h"

#define NOTE(name, semaphore, operands) SDT_NOTE("victim", name, semaphore, operands)

__attribute__((section(".probes"), used)) volatile unsigned short marks_semaphore = 0;

static long prepared, seen;

NOINLINE void plain(long number, const char* text) {
  seen++;
  __asm__ volatile(NOTE("plain", "0", "8@%0 8@%1 4@$7") : : "r"(number), "r"(text));
}

NOINLINE void shapes(int negative, unsigned char byte, long table[4], long index) {
  __asm__ volatile(NOTE("two__words", "0", "-4@%k0 1@%b1 8@8(%2,%3,8) -4@(%4)")
                   :
                   : "r"(negative), "q"(byte), "r"(table), "r"(index), "r"(&negative),
                     "m"(negative));
}

NOINLINE void costly(long n) {
  if (marks_semaphore) {
    prepared++;
    __asm__ volatile(NOTE("costly", "marks_semaphore", "-8@%0") : : "r"(n * n));
  }
}

int main(void) {
  long table[4] = {10, 20, 30, 40};
  for (long n = 0; n < 100; n++) {
    plain(n, "hello");
    shapes((int)-n, (unsigned char)(n + 200), table, n % 3);
    costly(n);
  }
  fact("plain", seen);
  fact("prepared", prepared);
  fact("semaphore", marks_semaphore);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
