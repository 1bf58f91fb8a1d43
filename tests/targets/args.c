// Functions with all kinds of integer parameters and data structures, called with known values.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

enum colour { RED, GREEN = 5, BLUE = -7 };

struct point {
  int x, y;
};

struct node {
  long value;
  const char* name;
  struct node* next;
  struct point at;
  int8_t small[4];
  union {
    uint32_t whole;
    uint16_t half[2];
  } both;
};

struct flags {
  unsigned low : 3;
  unsigned middle : 10;
  int negative : 5;
  unsigned long wide : 40;
};

struct node* global_list;
static volatile int static_number = 4711;
volatile long sink;

NOINLINE void narrow(int8_t i8, uint8_t u8, int16_t i16, uint16_t u16, bool yes, char letter) {
  sink += i8 + u8 + i16 + u16 + yes + letter;
}

NOINLINE void wide(int32_t i32, uint32_t u32, int64_t i64, uint64_t u64) {
  sink += i32 + (long)u32 + i64 + (long)u64;
}

NOINLINE void nine(int a, int b, int c, int d, int e, int f, int g, long h, short i) {
  sink += a + b + c + d + e + f + g + h + i;
}

NOINLINE long list(struct node* head, int depth) {
  long total = 0;
  for (const struct node* node = head; node && depth > 0; node = node->next, depth--) {
    total += node->value;
  }
  return total;
}

NOINLINE int text(const char* string, char* buffer, size_t bytes) {
  strncpy(buffer, string, bytes);
  return (int)strlen(buffer);
}

NOINLINE int bits(struct flags* flags, enum colour colour) {
  return (int)flags->low + (int)colour;
}

NOINLINE int table(int (*matrix)[3], struct node** nodes, int row) {
  return matrix[row][2] + (int)nodes[1]->value + static_number;
}

NOINLINE int8_t negative_byte(int n) { return (int8_t)-n; }
NOINLINE unsigned short unsigned_short(int n) { return (unsigned short)n; }
NOINLINE const char* string_result(int n) { return n ? "seven" : "zero"; }
NOINLINE void nothing(int n) { sink += n; }

int main(void) {
  struct node third = {.value = 30, .name = "third", .at = {5, 6}};
  struct node second = {.value = 20, .name = "second", .next = &third, .at = {3, -4}, .small = {1, -2, 3, -4}};
  struct node first = {.value = -10, .name = "first", .next = &second, .at = {1, 2}, .both = {.whole = 0x00020001}};
  struct flags flags = {.low = 5, .middle = 777, .negative = -9, .wide = 0x9876543210};
  struct node* nodes[] = {&first, &second, &third};
  int matrix[2][3] = {{11, 12, 13}, {21, 22, 23}};
  char buffer[64];
  global_list = &first;
  narrow(-8, 200, -30000, 60000, true, 'Q');
  wide(-2000000000, 4000000000U, -9000000000000000000L, 18000000000000000000UL);
  nine(1, -2, 3, -4, 5, -6, 7, -8000000000L, -9);
  fact("list", list(&first, 3));
  fact("text", text("hello, world", buffer, sizeof buffer));
  fact("bits", bits(&flags, BLUE));
  fact("table", table(matrix, nodes, 1));
  fact("negative_byte", negative_byte(100));
  fact("unsigned_short", unsigned_short(65535));
  fact("string", string_result(1)[0]);
  nothing(3);
  fact("head", (long)&first);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
