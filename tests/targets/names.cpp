// C++ names: namespaces, methods, overloads, templates, constructors, operators, lambdas.
#include "facts.h"

static long square_area, circle_area, scale_int, scale_long, built, destroyed, templated, added,
    plain, volumes, drawn;

namespace shapes {

struct Square {
  long side;
  NOINLINE explicit Square(long s) : side(s) { built++; }
  NOINLINE ~Square() { destroyed++; }
  NOINLINE long area() const {
    square_area++;
    return side * side;
  }
  NOINLINE static long plain_static(long n) {
    plain++;
    return n;
  }
};

namespace round {
struct Circle {
  long radius;
  NOINLINE long area() const {
    circle_area++;
    return 3 * radius * radius;
  }
};
}  // namespace round

NOINLINE long scale(int n) {
  scale_int++;
  return n * 2L;
}
NOINLINE long scale(long n) {
  scale_long++;
  return n * 3L;
}

template <typename T>
NOINLINE T twice(T value) {
  templated++;
  return value + value;
}

NOINLINE Square operator+(const Square& a, const Square& b) {
  added++;
  return Square(a.side + b.side);
}

// Calls by Drawn and Solid go through thunks of Cube's functions.
struct Solid {
  virtual ~Solid() = default;
  virtual long volume(long scale) = 0;
};
struct Drawn {
  virtual ~Drawn() = default;
  virtual long draw(long scale) = 0;
};
struct Cube : virtual Solid, Drawn {
  long edge = 2;
  NOINLINE long volume(long scale) override {
    volumes++;
    return edge * edge * edge * scale;
  }
  NOINLINE long draw(long scale) override {
    drawn++;
    return edge * scale;
  }
};
struct Stamped {
  virtual ~Stamped() = default;
};
struct Box : Stamped, Cube {
  NOINLINE long draw(long scale) override {
    drawn++;
    return edge + scale;
  }
};
NOINLINE long show(Drawn& drawn_one, Solid& solid, long scale) {
  return drawn_one.draw(scale) + solid.volume(scale);
}

}  // namespace shapes

int main() {
  long total = 0;
  shapes::Cube cube;
  shapes::Box box;
  for (int i = 0; i < 12; i++) {
    shapes::Square square(i);
    total += square.area() + shapes::round::Circle{i}.area() + shapes::scale(i);
    total += shapes::show(cube, cube, i) + shapes::show(box, box, i);
    if (i % 3 == 0) {
      total += shapes::scale(static_cast<long>(i)) + shapes::twice(i) + shapes::twice(2L * i);
      total += (square + square).side + shapes::Square::plain_static(i);
    }
  }
  fact("total", total);
  fact("shapes::Square::area", square_area);
  fact("shapes::round::Circle::area", circle_area);
  fact("shapes::scale(int)", scale_int);
  fact("shapes::scale(long)", scale_long);
  fact("built", built);
  fact("destroyed", destroyed);
  fact("twice", templated);
  fact("added", added);
  fact("shapes::Square::plain_static", plain);
  fact("volumes", volumes);
  fact("drawn", drawn);
}
// SPDX-License-Identifier: Apache-2.0
