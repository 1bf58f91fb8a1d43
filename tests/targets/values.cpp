// Structs, enums, strings, floating-point numbers and objects in registers, with known values.
#include <string>
#include <string_view>

#include "facts.h"

enum Colour { RED, GREEN = 5, BLUE = -7 };

struct Point {
  int x, y;
};

struct Base {
  int id;
};

struct Shape : Base {
  const char* name;
  Point at;
  Colour colour;
  char tag[8];
  int grid[3];
  unsigned low : 3;
  int negative : 5;
  union {
    int whole;
    short half;
  };
  Shape* next;
  bool yes;
  char letter;
  double real;
  float single;
  std::string text;
};

struct Mixed {
  double a;
  int b;
};
struct Whole {
  long a, b;
};
struct Reals {
  double a;
  float b;
};

namespace outer {
struct Inner {
  short value;
};
}  // namespace outer

static int counter = 42;
thread_local int of_thread = 77;
outer::Inner inner = {-3};

NOINLINE int show(Shape* p, Shape& r, Colour colour, double d, float f, Mixed mixed,
                  const char* text, std::string_view view) {
  asm volatile("" ::: "memory");
  counter++;
  of_thread++;
  return (p ? p->id : 0) + r.id + colour + mixed.b + int(d) + text[0] + int(f) + int(view.size()) +
         inner.value;
}

NOINLINE int registers(Whole whole, Reals reals, Mixed mixed, Point point) {
  return int(whole.a + whole.b) + int(reals.a + reals.b) + int(mixed.a) + mixed.b + point.x +
         point.y;
}

NOINLINE Mixed make_mixed(double d) { return {d * 3, int(d)}; }
NOINLINE Whole make_whole(long n) { return {n, -n}; }
NOINLINE double halve(double d) { return d / 2; }
NOINLINE float third(float f) { return f / 3; }

// What its parameters lead to is other at the exit than at the entry.
NOINLINE void grow(Shape* p, Shape& r, int by) {
  p->id += by;
  p->name = "square";
  p->grid[1] += by;
  r.at.x += by;
  counter += by;
  asm volatile("" : : "r"(p), "r"(&r) : "memory");
}

int main() {
  Shape shape{{9},  "circle\n", {1, -2}, BLUE, "tag", {7, 8, 9}, 5,      -3,
              {66}, nullptr,    true,    'Q',  2.5,   1.25f,     "hello"};
  shape.next = reinterpret_cast<Shape*>(8);
  fact("shape", reinterpret_cast<long>(&shape));
  fact("show", show(&shape, shape, GREEN, 1.5, 0.75f, Mixed{3.25, 6}, "text", "viewed"));
  fact("registers", registers({1, -2}, {0.5, -0.25f}, {8.5, -9}, {3, 4}));
  fact("mixed", make_mixed(4.5).b);
  fact("whole", make_whole(5).b);
  fact("halves", long(halve(-5.0) * 100));
  fact("thirds", long(third(1.0f) * 100));
  show(nullptr, shape, RED, 0, 0, {}, "null", "");
  grow(&shape, shape, 100);
}
// SPDX-License-Identifier: Apache-2.0
