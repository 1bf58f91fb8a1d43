// SPDX-License-Identifier: Apache-2.0
// Values of target expressions, verdicts by gdb running the program and by the values it was given.
#include <gtest/gtest.h>

#include "compiler/debuginfo/module.h"
#include "compiler/debuginfo/victim_support.h"

namespace dj {
namespace {

constexpr const char* kSource = R"(#include <stdio.h>
struct inner { int a; unsigned b : 3; int c : 5; char name[16]; };
struct point { int x, y; struct inner in; struct point *next; union { long l; char ch; }; int grid[2][3]; };
int global_counter = 7;
static long hidden = 9;
__thread int tls_value = 3;
__attribute__((noinline)) int work(int fd, const char *msg, struct point *p, unsigned char c, short s, long big, int seventh) {
  int local = fd * 2;
  for (int i = 0; i < 2; i++) {
    int deep = i + local;
    global_counter += deep;
  }
  hidden++; tls_value++;
  printf("%d %s %d %d\n", fd, msg, p->x, local + seventh + c + s + (int)big);
  return local;
}
__attribute__((noinline)) double scale(double d, int after) { return d * after; }
__attribute__((noinline)) int byval(struct point big, int k) { printf("%d", big.x); return big.in.a + k; }
int (*volatile by_pointer)(struct point, int) = byval;
int main(int argc, char **argv) {
  struct point p = {-1, 2, {3, 4, -5, "nm"}, 0, {77}, {{1, 2, 3}, {4, 5, 6}}};
  p.next = &p;
  int r = work(-3, "hello", &p, 200, -4, 1L << 40, 70);
  printf("%f %d\n", scale(2.5, r), by_pointer(p, 11));
  return 0;
}
)";
constexpr const char* kCompilers[] = {"gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2"};

struct Built {
  Folder folder;
  std::string file;
  std::unique_ptr<Module> module;
  explicit Built(const std::string& compiler) {
    file = folder.build(compiler + " -g -no-pie -fno-pie", folder.file("t.c", kSource), "t");
    module = Module::open(file).take();
  }
  ProbePlace entry(const std::string& function) const {
    const CodeFunction f = module->find(NameMatcher(function)).functions.at(0);
    return {f.begin, f.begin, true, false, false};
  }
};

TargetStep field(const std::string& name) { return {TargetStep::Field, name, 0, {}}; }
TargetStep element(int64_t index) { return {TargetStep::ConstElement, "", index, {}}; }

TargetExpr target(const std::string& name, std::vector<TargetStep> path = {},
                  bool address = false) {
  TargetExpr expr;
  expr.name = name;
  expr.path = std::move(path);
  expr.address_of = address;
  return expr;
}

LocExpr located(Built& built, const ProbePlace& place, const TargetExpr& expr) {
  TargetAnswer answer = built.module->debug_info()->target(place, expr);
  if (auto* f = std::get_if<TargetFailure>(&answer)) {
    ADD_FAILURE() << "$" << expr.name << ": " << f->message;
    return {};
  }
  return std::get<LocExpr>(answer);
}

TEST(Targets, ArgumentsAtTheFirstInstruction) {
  struct {
    TargetExpr expr;
    long value;
  } rows[] = {
      {target("fd"), -3},
      {target("c"), 200},
      {target("s"), -4},
      {target("big"), 1L << 40},
      {target("seventh"), 70},
      {target("p", {field("x")}), -1},
      {target("p", {field("in"), field("a")}), 3},
      {target("p", {field("in"), field("b")}), 4},
      {target("p", {field("in"), field("c")}), -5},
      {target("p", {field("in"), field("name"), element(1)}), 'm'},
      {target("p", {field("next"), field("next"), field("l")}), 77},
      {target("p", {field("grid"), element(1), element(2)}), 6},
      {target("p", {element(0), field("y")}), 2},
      {target("msg", {element(4)}), 'o'},
      {target("global_counter"), 7},
      {target("hidden"), 9},
      {target("tls_value"), 3},
  };
  for (const char* compiler : kCompilers) {
    Built built(compiler);
    const ProbePlace place = built.entry("work");
    std::vector<std::string> expressions;
    for (const auto& row : rows) {
      expressions.push_back(gdb_expression(located(built, place, row.expr)));
    }
    const std::vector<long> values = gdb_values(built.folder, built.file, place.pc, expressions);
    ASSERT_EQ(values.size(), std::size(rows)) << compiler;
    for (size_t i = 0; i < values.size(); i++) {
      EXPECT_EQ(values[i], rows[i].value) << compiler << " $" << rows[i].expr.name << " row " << i;
    }
  }
}

TEST(Targets, StructsByValueAndWhatComesBehindThem) {
  for (const char* compiler : kCompilers) {
    Built built(compiler);
    const ProbePlace place = built.entry("byval");
    const std::vector<std::string> expressions = {
        gdb_expression(located(built, place, target("big", {field("in"), field("a")}))),
        gdb_expression(located(built, place, target("k"))),
    };
    EXPECT_EQ(gdb_values(built.folder, built.file, place.pc, expressions),
              (std::vector<long>{3, 11}))
        << compiler;
    // An integer behind a double is in the first integer register.
    EXPECT_EQ(to_string(located(built, built.entry("scale"), target("after"))), "rdi extend4s")
        << compiler;
  }
}

TEST(Targets, LocalsInsideAFunctionAreWhatGdbSays) {
  for (const char* compiler : {"gcc -O0", "clang-19 -O0"}) {
    Built built(compiler);
    const CodeFunction f = built.module->find(NameMatcher("work")).functions.at(0);
    std::vector<uint32_t> nearest;
    const std::vector<LineHit> hits =
        built.module->debug_info()->line_addresses("t.c", {11, 11}, f.begin, f.end, nearest);
    ASSERT_FALSE(hits.empty());
    ProbePlace place{hits[0].address, f.begin, false, false, false};
    const std::vector<std::string> names = {"fd", "local", "i", "deep", "seventh", "c"};
    std::vector<std::string> expressions;
    for (const std::string& name : names) {
      expressions.push_back(gdb_expression(located(built, place, target(name))));
    }
    expressions.insert(expressions.end(), names.begin(), names.end());
    const std::vector<long> values = gdb_values(built.folder, built.file, place.pc, expressions);
    ASSERT_EQ(values.size(), 2 * names.size());
    for (size_t i = 0; i < names.size(); i++) {
      EXPECT_EQ(values[i], values[names.size() + i]) << compiler << " $" << names[i];
    }
    EXPECT_EQ(values[1], -6);
  }
}

TEST(Targets, OptimizedLocalsAreWhatGdbSaysOrAreRefused) {
  for (const char* compiler : {"gcc -O2", "clang-19 -O2", "gcc -O1"}) {
    Built built(compiler);
    const CodeFunction f = built.module->find(NameMatcher("work")).functions.at(0);
    int compared = 0;
    for (uint32_t line : {13u, 14u, 15u}) {
      std::vector<uint32_t> nearest;
      const std::vector<LineHit> hits =
          built.module->debug_info()->line_addresses("t.c", {line, line}, f.begin, f.end, nearest);
      if (hits.empty()) {
        continue;
      }
      ProbePlace place{hits[0].address, f.begin, false, false, false};
      std::vector<std::string> mine, gdbs;
      for (const char* name : {"fd", "msg", "p", "c", "s", "big", "seventh", "local"}) {
        TargetAnswer answer = built.module->debug_info()->target(place, target(name));
        if (auto* value = std::get_if<LocExpr>(&answer)) {
          mine.push_back(gdb_expression(*value));
          gdbs.push_back(name);
        }
      }
      const size_t count = mine.size();
      mine.insert(mine.end(), gdbs.begin(), gdbs.end());
      const std::vector<long> values = gdb_values(built.folder, built.file, place.pc, mine);
      ASSERT_EQ(values.size(), 2 * count) << compiler << " line " << line;
      for (size_t i = 0; i < count; i++) {
        EXPECT_EQ(values[i], values[count + i]) << compiler << " $" << gdbs[i] << " line " << line;
      }
      compared += int(count);
    }
    EXPECT_GT(compared, 4) << compiler;
  }
}

TEST(Targets, MistakesSayWhatThereIs) {
  Built built("gcc -O0");
  const ProbePlace place = built.entry("work");
  DebugInfo& info = *built.module->debug_info();
  auto fails = [&](const TargetExpr& expr) {
    TargetAnswer answer = info.target(place, expr);
    EXPECT_TRUE(std::holds_alternative<TargetFailure>(answer));
    return std::holds_alternative<TargetFailure>(answer) ? std::get<TargetFailure>(answer)
                                                         : TargetFailure{};
  };
  const TargetFailure name = fails(target("mgs"));
  EXPECT_EQ(name.kind, TargetFailure::UnknownName);
  EXPECT_EQ(name.known.at(0), "fd");
  EXPECT_NE(name.notes.at(0).find("$fd: int, $msg: const char*, $p: struct point*"),
            std::string::npos);
  const TargetFailure member = fails(target("p", {field("z")}));
  EXPECT_EQ(member.kind, TargetFailure::UnknownField);
  EXPECT_EQ(member.step, 0);
  EXPECT_NE(member.notes.at(0).find("0: int x; 4: int y;"), std::string::npos);
  EXPECT_NE(member.notes.at(1).find("t.c:3"), std::string::npos);
  EXPECT_EQ(fails(target("p", {field("in")})).kind, TargetFailure::BadUse);
  EXPECT_EQ(fails(target("fd", {field("x")})).kind, TargetFailure::BadUse);
  EXPECT_EQ(fails(target("fd", {}, true)).kind, TargetFailure::BadUse);
  EXPECT_EQ(fails(target("p", {field("in"), field("b")}, true)).kind, TargetFailure::BadUse);
  EXPECT_EQ(fails(target("return")).kind, TargetFailure::BadUse);
}

TEST(Targets, DoublesAreTheirBits) {
  Built built("gcc -O0");
  TargetAnswer vector = built.module->debug_info()->target(built.entry("scale"), target("d"));
  EXPECT_EQ(to_string(std::get<LocExpr>(vector)), "xmm0");
  EXPECT_TRUE(std::get<LocExpr>(vector).is_double);
}

TEST(Targets, TextFormsListParametersInOrder) {
  Built built("gcc -O0");
  TextAnswer answer = built.module->debug_info()->text(built.entry("work"), target("$parms"));
  const TargetText text = std::get<TargetText>(answer);
  ASSERT_EQ(text.items.size(), 7u);
  EXPECT_EQ(text.items[0].before, "fd=");
  EXPECT_EQ(text.items[0].as, TargetText::Item::As::Hex);
  EXPECT_EQ(text.items[1].as, TargetText::Item::As::Hex);
  EXPECT_EQ(text.items[3].as, TargetText::Item::As::Hex);
  const TargetText scale = std::get<TargetText>(
      built.module->debug_info()->text(built.entry("scale"), target("$parms")));
  EXPECT_TRUE(scale.items.at(0).defined);
  EXPECT_EQ(scale.items.at(0).as, TargetText::Item::As::Double);
  EXPECT_TRUE(scale.items.at(1).defined);
}

TEST(Targets, CppReferencesThisAndHiddenArguments) {
  const char* source = R"(
#include <string>
struct Base { int id = 5; virtual ~Base() {} };
struct Klass : Base { int v = 3; int &alias = v;
  __attribute__((noinline)) int method(int a, int& r) { r += a; return v + id; } };
__attribute__((noinline)) int length(std::string text, int k) { return text.size() + k; }
__attribute__((noinline)) std::string make(int n) { return std::string(n, 'x'); }
int main(int argc, char**) { Klass k; int r = 41; int z = k.method(argc, r); return z + length("hey", 4) + make(6).size() == 0; }
)";
  for (const char* compiler : {"g++ -O0", "clang++-19 -O0", "g++ -O1"}) {
    Folder folder;
    const std::string file = folder.build(std::string(compiler) + " -g -no-pie -fno-pie",
                                          folder.file("t.cpp", source), "t");
    std::unique_ptr<Module> module = Module::open(file).take();
    auto value = [&](const char* function, const TargetExpr& expr) {
      const CodeFunction f = module->find(NameMatcher(function)).functions.at(0);
      TargetAnswer answer =
          module->debug_info()->target({f.begin, f.begin, true, false, false}, expr);
      if (auto* failed = std::get_if<TargetFailure>(&answer)) {
        ADD_FAILURE() << compiler << " " << function << " " << failed->message;
        return std::vector<long>{};
      }
      return gdb_values(folder, file, f.begin, {gdb_expression(std::get<LocExpr>(answer))});
    };
    EXPECT_EQ(value("Klass::method", target("this", {field("id")})), std::vector<long>{5})
        << compiler;
    EXPECT_EQ(value("Klass::method", target("this", {field("alias")})), std::vector<long>{3})
        << compiler;
    EXPECT_EQ(value("Klass::method", target("r")), std::vector<long>{41}) << compiler;
    EXPECT_EQ(value("length", target("k")), std::vector<long>{4}) << compiler;
    EXPECT_EQ(value("length", target("text", {field("_M_string_length")})), std::vector<long>{3})
        << compiler;
    EXPECT_EQ(value("make", target("n")), std::vector<long>{6}) << compiler;
  }
}

}  // namespace
}  // namespace dj
