// Copies with the direction flag set, as memmove() does in some C libraries.
//   backwards         a short text, 200 times
//   backwards long    for some tenths of a second
#include <stdlib.h>
#include <string.h>

#include "facts.h"

static long copies, wrong;

// `length` bytes, the last ones first.
NOINLINE void copy_down(char* to_last, const char* from_last, long length) {
  __asm__ volatile("std; nop; nop; nop; nop; nop; rep movsb; nop; nop; nop; nop; nop; cld"
                   : "+D"(to_last), "+S"(from_last), "+c"(length)
                   :
                   : "memory");
}

static void copy_long(void) {
  const long length = 64 << 20, rounds = 8;
  char* bytes = calloc(1, length + 1);
  if (bytes == NULL) exit(2);
  bytes[length - rounds] = 1;
  for (int i = 0; i < rounds; i++) copy_down(bytes + length, bytes + length - 1, length);
  wrong += bytes[length] != 1 || bytes[length - rounds] != 0;
  free(bytes);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) copy_long();
  static const char kText[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (int i = 0; i < 200; i++) {
    char text[2 * sizeof kText] = "";
    memcpy(text, kText, sizeof kText);
    copy_down(text + 7 + sizeof kText - 1, text + sizeof kText - 1, sizeof kText);
    copies++;
    wrong += strcmp(text + 7, kText) != 0 || memcmp(text, kText, 7) != 0;
  }
  fact("copies", copies);
  fact("wrong", wrong);
  return wrong != 0;
}
// SPDX-License-Identifier: Apache-2.0
