// Patterns and demangled names: what a person writes against what the linker wrote.
#include "compiler/debuginfo/pattern.h"

#include <gtest/gtest.h>

#include "compiler/debuginfo/demangle.h"

namespace dj {
namespace {

TEST(Pattern, TakesAllPartsApart) {
  const FunctionPattern p = parse_function_pattern("libc.so.6!mal*@malloc/malloc.c:12").take();
  EXPECT_EQ(p.object, "libc.so.6");
  EXPECT_EQ(p.name, "mal*");
  EXPECT_EQ(p.file, "malloc/malloc.c");
  EXPECT_EQ(p.line, (LineRange{12, 12}));
  EXPECT_EQ(parse_function_pattern("operator!=").value().name, "operator!=");
  EXPECT_EQ(parse_function_pattern("f@t.c").value().line, std::nullopt);
}

TEST(Pattern, RefusesMalformedOnes) {
  for (const char* text :
       {"", "!f", "f@", "f@t.c:", "f@t.c:0", "f@t.c:12x", "f@t.c:99999999999", "@t.c:1"}) {
    EXPECT_FALSE(parse_function_pattern(text).ok()) << text;
  }
}

TEST(Pattern, Glob) {
  EXPECT_TRUE(glob_match("m*l?c", "malloc"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("*a*b", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(path_matches("t.c", "/home/a/t.c"));
  EXPECT_TRUE(path_matches("./src/t.c", "/home/a/src/t.c"));
  EXPECT_FALSE(path_matches("t.c", "/home/a/not.c"));
}

TEST(Demangle, KeepsThePartsAPersonWrites) {
  struct {
    const char* full;
    const char* name;
    const char* parameters;
  } rows[] = {
      {"f(int)", "f", "(int)"},
      {"void ns::f<int>(int, std::vector<int, std::allocator<int> >)", "ns::f<int>",
       "(int, std::vector<int, std::allocator<int> >)"},
      {"A::operator()(int) const", "A::operator()", "(int)"},
      {"A::operator<(A const&) const", "A::operator<", "(A const&)"},
      {"(anonymous namespace)::f(long)", "(anonymous namespace)::f", "(long)"},
      {"A::operator unsigned int() const", "A::operator unsigned int", "()"},
      {"non-virtual thunk to A::f(int)", "non-virtual thunk to A::f", "(int)"},
      {"TLS wrapper function for ns::x", "TLS wrapper function for ns::x", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(split_demangled(row.full).name, row.name) << row.full;
    EXPECT_EQ(split_demangled(row.full).parameters, row.parameters) << row.full;
  }
  EXPECT_EQ(without_templates("ns::A<x::y>::f<int>"), "ns::A::f");
  EXPECT_EQ(without_templates("A::operator<"), "A::operator<");
}

TEST(NameMatcher, MatchesCppNamesAsAPersonWritesThem) {
  const char* symbol = "_ZN2ns5Klass6methodEid";  // ns::Klass::method(int, double)
  for (const char* name :
       {"method", "Klass::method", "ns::Klass::method", "ns::Klass::method(int, double)",
        "method(int, double)", "ns::*", "meth*", "_ZN2ns5Klass6methodEid", "*::method"}) {
    EXPECT_TRUE(NameMatcher(name).matches(symbol)) << name;
  }
  for (const char* name :
       {"Klass", "ethod", "method(int)", "lass::method", "other::method", "meth", "Klass*"}) {
    EXPECT_FALSE(NameMatcher(name).matches(symbol)) << name;
  }
}

TEST(NameMatcher, MatchesNamesWithBracketsThatAreNoParameters) {
  const char* anonymous = "_ZN1a12_GLOBAL__N_14anonEi";  // a::(anonymous namespace)::anon(int)
  for (const char* name : {"a::(anonymous namespace)::anon", "(anonymous namespace)::anon(int)"})
    EXPECT_TRUE(NameMatcher(name).matches(anonymous)) << name;
  EXPECT_FALSE(NameMatcher("a::(anonymous namespace)::anon(long)").matches(anonymous));
  const char* lambda = "_ZZ4mainENKUliE_clEi";  // main::{lambda(int)#1}::operator()(int) const
  for (const char* name : {"main::{lambda(int)#1}::operator()",
                           "main::{lambda(int)#1}::operator()(int) const", "*::{lambda*::*"})
    EXPECT_TRUE(NameMatcher(name).matches(lambda)) << name;
  EXPECT_FALSE(NameMatcher("main::{lambda(int)#2}::operator()").matches(lambda));
}

TEST(NameMatcher, TellsConstMethodsByTheWord) {
  EXPECT_TRUE(NameMatcher("a::Q::get() const").matches("_ZNK1a1Q3getEv"));
  EXPECT_TRUE(NameMatcher("a::Q::get()").matches("_ZNK1a1Q3getEv"));
  EXPECT_FALSE(NameMatcher("a::Q::get() const").matches("_ZN1a1Q3getEv"));
}

TEST(NameMatcher, MatchesThunksByTheirOwnWords) {
  const char* symbol = "_ZThn8_N1A1fEi";  // non-virtual thunk to A::f(int)
  for (const char* name : {"*thunk*", "non-virtual thunk*", "*thunk to A::f", "*thunk to A::*(int)"})
    EXPECT_TRUE(NameMatcher(name).matches(symbol)) << name;
  for (const char* name : {"*thunks*", "virtual thunk*", "A::f", "f"})
    EXPECT_FALSE(NameMatcher(name).matches(symbol)) << name;
  EXPECT_FALSE(NameMatcher("*thunk*").matches("_ZN1A1fEi"));
}

TEST(NameMatcher, CompilerMadeNames) {
  EXPECT_TRUE(NameMatcher("f").matches("f.constprop.0"));
  EXPECT_TRUE(NameMatcher("f").matches("f.isra.0"));
  EXPECT_FALSE(NameMatcher("f").matches("f.cold"));
  EXPECT_FALSE(NameMatcher("*").matches("f.part.0"));
  EXPECT_TRUE(NameMatcher("f.cold").matches("f.cold"));
  EXPECT_TRUE(NameMatcher("memcpy").matches("memcpy@@GLIBC_2.14"));
}

}  // namespace
}  // namespace dj
