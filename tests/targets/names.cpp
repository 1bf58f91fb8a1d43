// C++ names: namespaces, methods, overloads, templates, constructors, operators, lambdas.
#include "facts.h"

static long square_area, circle_area, scale_int, scale_long, built, destroyed, templated, added, plain;

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

}  // namespace shapes

int main() {
  long total = 0;
  for (int i = 0; i < 12; i++) {
    shapes::Square square(i);
    total += square.area() + shapes::round::Circle{i}.area() + shapes::scale(i);
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
}
