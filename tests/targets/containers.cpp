// Containers of the C++ library and a tagged struct, with known values: what printers of types show.
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facts.h"

struct Point {
  int x, y;
};

struct Tagged {
  int kind;
  unsigned length;
  union {
    const char* text;
    long number;
    Point* point;
  };
  Tagged* next;
};

struct Bag {
  std::vector<int> numbers, none;
  std::vector<std::string> words;
  std::vector<Point> points;
  std::vector<bool> bits;
  std::shared_ptr<Point> shared, empty;
  std::optional<int> some, nothing;
  std::pair<int, std::string> pair;
  std::map<int, int> map;
  std::unordered_map<int, int> hashed;
  std::set<std::string> set;
  std::list<int> list;
};

NOINLINE long show(Bag* bag, std::vector<int>& many, Tagged* tagged) {
  asm volatile("" ::: "memory");
  return long(bag->numbers.size() + many.size()) + tagged->kind;
}

int main() {
  Bag bag;
  bag.numbers = {1, -2, 3};
  bag.words = {"one", "two words"};
  bag.points = {{1, 2}, {3, 4}};
  bag.bits.resize(70);
  bag.shared = std::make_shared<Point>(Point{5, 6});
  std::shared_ptr<Point> other = bag.shared;
  bag.some = 42;
  bag.pair = {7, "seven"};
  bag.map = {{1, 1}, {2, 2}};
  bag.hashed = {{1, 1}, {2, 2}, {3, 3}};
  bag.set = {"a", "b", "c", "d"};
  bag.list = {1, 2, 3, 4, 5};
  std::vector<int> many;
  for (int i = 0; i < 20; i++) many.push_back(i);
  Point point = {8, 9};
  Tagged last = {3, 0, {nullptr}, nullptr}, third = {2, 0, {nullptr}, &last};
  Tagged second = {1, 0, {nullptr}, &third}, first = {0, 3, {"abcdef"}, &second};
  second.number = -11;
  third.point = &point;
  fact("shown", show(&bag, many, &first));
}
