// Containers of the C++ library and a tagged struct, with known values: what printers of types
// show.
#include <array>
#include <atomic>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
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

struct Large {
  long number;
  char rest[600];
};

struct More {
  std::unique_ptr<Point> unique, none;
  std::unique_ptr<std::string> text;
  std::weak_ptr<Point> weak;
  std::deque<int> deque, empty;
  std::deque<Large> large;
  std::tuple<int, std::string, Point> tuple;
  std::tuple<> nothing;
  std::variant<int, std::string, Point> whole, word, place;
  std::variant<int, double> plain;
  std::map<std::string, int> one, three, many;
  std::set<int> set;
  std::unordered_map<std::string, int> hashed;
  std::unordered_set<long> numbers;
  std::list<std::string> list;
  std::list<int> nine;
  std::forward_list<int> forward;
  std::array<int, 3> array;
  std::optional<std::string> optional;
  std::atomic<int> atomic;
  std::atomic<Point*> atomic_pointer;
  std::string_view view;
};

NOINLINE long show(Bag* bag, std::vector<int>& many, Tagged* tagged) {
  asm volatile("" ::: "memory");
  return long(bag->numbers.size() + many.size()) + tagged->kind;
}

NOINLINE int show_more(More* more) {
  asm volatile("" ::: "memory");
  return more->array[0];
}

static void more() {
  More more;
  std::shared_ptr<Point> owner = std::make_shared<Point>(Point{7, 8});
  more.unique = std::make_unique<Point>(Point{5, 6});
  more.text = std::make_unique<std::string>("owned");
  more.weak = owner;
  for (int i = 0; i < 400; i++)
    more.deque.push_back(i);  // across chunks, and not from the first's beginning
  for (int i = 0; i < 126; i++) more.deque.pop_front();
  more.large = {Large{11, ""}, Large{12, ""}, Large{13, ""}};
  more.tuple = {1, "two", Point{3, 4}};
  more.whole = 5;
  more.word = "word";
  more.place = Point{1, 2};
  more.plain = 1.5;
  more.one = {{"a", 1}};
  more.three = {{"a", 1}, {"b", 2}, {"c", 3}};
  for (int i = 0; i < 20; i++) more.many["key" + std::to_string(10 + i)] = i;
  more.set = {3, 1};
  more.hashed = {{"only", 1}};
  more.numbers = {77};
  more.list = {"first", "second"};
  more.nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  more.forward = {1, 2, 3};
  more.array = {1, 2, 3};
  more.optional = "there";
  more.atomic = 9;
  more.atomic_pointer = nullptr;
  more.view = std::string_view("looked at", 6);
  fact("more", show_more(&more));
}

int main() {
  more();
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
// SPDX-License-Identifier: Apache-2.0
