// SPDX-License-Identifier: Apache-2.0
// Patterns and demangled names: what a person writes against what the linker wrote.
#include "compiler/debuginfo/pattern.h"

#include <gtest/gtest.h>

#include "compiler/debuginfo/closures.h"
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
      {"A::f(int) const::{lambda(int)#1}::operator()(int) const::B::g(long) const",
       "A::f(int) const::{lambda(int)#1}::operator()(int) const::B::g", "(long)"},
      {"int const& f<int>(int)", "f<int>", "(int)"},
      {"operator\"\" _km(unsigned long long)", "operator\"\" _km", "(unsigned long long)"},
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

TEST(NameMatcher, TakesEverySpellingOfAType) {
  const char* symbol = "_ZN2ns1fEmPKPKc";  // ns::f(unsigned long, char const* const*)
  for (const char* name :
       {"ns::f(unsigned long, char const* const*)", "ns::f(unsigned long,const char *const *)",
        "f(long unsigned int, const char* const*)", "::ns::f"})
    EXPECT_TRUE(NameMatcher(name).matches(symbol)) << name;
  for (const char* name :
       {"ns::f(unsigned long, char* const*)", "ns::f(unsigned, char const* const*)", "::f"})
    EXPECT_FALSE(NameMatcher(name, Spelling::Exact).matches(symbol)) << name;
  // a::Q::make(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >
  // const&)
  const char* make = "_ZN1a1Q4makeERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
  for (const char* name : {"a::Q::make(const std::string &)",
                           "a::Q::make(std::__cxx11::basic_string<char, "
                           "std::char_traits<char>, std::allocator<char>> const&)"})
    EXPECT_TRUE(NameMatcher(name).matches(make)) << name;
  // std::__cxx11::basic_string<char, ...>::find(char, unsigned long) const
  const char* find = "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm";
  for (const char* name :
       {"std::string::find", "std::basic_string::find", "std::__cxx11::basic_string::find",
        "std::string::find(char, unsigned long) const"})
    EXPECT_TRUE(NameMatcher(name).matches(find)) << name;
  EXPECT_TRUE(NameMatcher("make[abi:v1](int)").matches("_Z4makeB2v1i"));
  EXPECT_TRUE(NameMatcher("make(int)").matches("_Z4makeB2v1i"));
  EXPECT_FALSE(NameMatcher("make[abi:v2](int)").matches("_Z4makeB2v1i"));
}

TEST(NameMatcher, LeavesOutNamespacesThatTheSourceMayLeaveOut) {
  EXPECT_TRUE(NameMatcher("a::anon").matches("_ZN1a12_GLOBAL__N_14anonEi"));
  const NameMatcher::Meaning meaning =
      NameMatcher("a::f").meaning("_ZN1a2v21fEi");  // a::v2::f(int)
  EXPECT_TRUE(meaning.yes);
  EXPECT_EQ(meaning.if_inline, std::vector<std::string>{"v2"});
  EXPECT_FALSE(NameMatcher("a::v2").meaning("_ZN1a2v21fEi").yes);
}

TEST(NameMatcher, ExactNamesHaveNoWildcards) {
  const char* one = "_ZN1a2anEPc";   // a::an(char*)
  const char* two = "_ZN1a2anEPPc";  // a::an(char**)
  EXPECT_TRUE(NameMatcher("a::an(char*)").may_be_exact());
  EXPECT_TRUE(NameMatcher("a::an(char*)", Spelling::Exact).matches(one));
  EXPECT_FALSE(NameMatcher("a::an(char*)", Spelling::Exact).matches(two));
  EXPECT_TRUE(NameMatcher("a::an(char*)").matches(two));
  EXPECT_FALSE(NameMatcher("a::an").may_be_exact());
  // A::run(int)::{lambda(int)#1}::operator()(int) const
  const char* local = "_ZZN1A3runEiENKUliE_clEi";
  for (const char* name :
       {"A::run(int)::{lambda(int)#1}::operator()", "A::run::{lambda(int)#1}::operator()"})
    EXPECT_TRUE(NameMatcher(name).matches(local)) << name;
  EXPECT_FALSE(NameMatcher("A::run(long)::{lambda(int)#1}::operator()").matches(local));
  EXPECT_TRUE(NameMatcher("main()::{lambda(int)#1}::operator()").matches("_ZZ4mainENKUliE_clEi"));
}

// Oracle: c++filt -s dlang, but for the name that it writes twice.
TEST(DlangNames, AreThoseOfTheSource) {
  struct {
    const char* symbol;
    const char* name;
    const char* rest;
  } rows[] = {
      {"_D3app4main3Vec11__xopEqualsMxFKxSQBgQBfQBdZb", "app.main.Vec.__xopEquals",
       "(ref const(app.main.Vec)) const"},
      {"_D3app4main4Bird6__ctorMFAyaZCQBcQBbQz", "app.main.Bird.this", "(immutable(char)[])"},
      {"_D3app4main4joinFAyaAxaAiZi", "app.main.join", "(immutable(char)[], const(char)[], int[])"},
      {"_D3app4main__T7biggestTdZQlFNaNbNiNfAdZd", "app.main.biggest!(double).biggest",
       "(double[])"},
      {"_D8demangle4testFHAbaZv", "demangle.test", "(char[bool[]])"},
      {"_D8demangle4testFDFxaZaZv", "demangle.test", "(char delegate(const(char)))"},
      {"_D8demangle4testFPFLAiYiZv", "demangle.test", "(int function(lazy int[], ...))"},
      {"_D8demangle4testFG42aLG3iYv", "demangle.test", "(char[42], lazy int[3], ...)"},
  };
  for (const auto& row : rows) {
    const DemangledName split = split_symbol(row.symbol);
    EXPECT_EQ(split.name, row.name);
    EXPECT_EQ(split.parameters + split.qualifiers, row.rest);
  }
  for (const char* name : {"app.main.join", "main.join", "join", "app.*",
                           "app.main.join(string, const(char)[], int[])"})
    EXPECT_TRUE(NameMatcher(name).matches("_D3app4main4joinFAyaAxaAiZi")) << name;
  for (const char* name :
       {"app.main.biggest", "app.main.biggest!(int)", "app.main.biggest!(int).biggest(int[])"})
    EXPECT_TRUE(NameMatcher(name).matches("_D3app4main__T7biggestTiZQlFNaNbNiNfAiZi")) << name;
  EXPECT_FALSE(
      NameMatcher("app.main.biggest!(int)").matches("_D3app4main__T7biggestTdZQlFNaNbNiNfAdZd"));
  for (const char* broken :
       {"_D3app4main", "_D9app", "_D3appQz", "_D3app4mainFQaQbZ", "_D1_Q", "_D3a__T1bZ"})
    split_symbol(broken);
}

TEST(RustNames, HaveCharactersOfTheSource) {
  EXPECT_EQ(person_name("_ZN1r10_$ufc$bung17h1f90b8922fe75b0dE"), "r::\u00fcbung");
  EXPECT_TRUE(NameMatcher("r::\u00fcbung").matches("_ZN1r10_$ufc$bung17h1f90b8922fe75b0dE"));
  EXPECT_TRUE(NameMatcher("\u00fcbung").matches("_RNvCs6GmmlP4bgsG_1ru8bung_zra"));
  EXPECT_EQ(whole_name("_RINvCs6GmmlP4bgsG_1r7biggestlEB2_"), "r::biggest<i32>");
  EXPECT_TRUE(NameMatcher("biggest<i32>").matches("_RINvCs6GmmlP4bgsG_1r7biggestlEB2_"));
  EXPECT_FALSE(NameMatcher("r::biggest<u8>").matches("_RINvCs6GmmlP4bgsG_1r7biggestlEB2_"));
  // <(u8, &str) as r::shapes::Area>::area
  EXPECT_EQ(
      person_name(
          "_ZN56_$LT$$LP$u8$C$$RF$str$RP$$u20$as$u20$r..shapes..Area$GT$4area17h0628f18087bc84ecE"),
      "(u8,&str)::area");
}

TEST(ClosureNames, CountAsTheAbiDoes) {
  std::vector<Symbol> functions;
  // main::$_0::operator()(int) const, $_1 of an int, $_2 of a long, $_3 of an int
  for (const char* name :
       {"_ZZ4mainENK3$_3clEi", "_ZZ4mainENK3$_0clEi", "_ZZ4mainENK3$_1clEi", "_ZZ4mainENK3$_2clEl"})
    functions.push_back({.name = name});
  const ClosureNames names(functions);
  EXPECT_EQ(names.name_of("_ZZ4mainENK3$_0clEi"), "main::{lambda(int)#1}::operator()(int) const");
  EXPECT_EQ(names.name_of("_ZZ4mainENK3$_2clEl"), "main::{lambda(long)#1}::operator()(long) const");
  EXPECT_EQ(names.name_of("_ZZ4mainENK3$_3clEi"), "main::{lambda(int)#3}::operator()(int) const");
  EXPECT_EQ(names.name_of("main"), "");
}

TEST(NameMatcher, TellsConstMethodsByTheWord) {
  EXPECT_TRUE(NameMatcher("a::Q::get() const").matches("_ZNK1a1Q3getEv"));
  EXPECT_TRUE(NameMatcher("a::Q::get()").matches("_ZNK1a1Q3getEv"));
  EXPECT_FALSE(NameMatcher("a::Q::get()", Spelling::Exact).matches("_ZNK1a1Q3getEv"));
  EXPECT_FALSE(NameMatcher("a::Q::get() const").matches("_ZN1a1Q3getEv"));
}

TEST(NameMatcher, MatchesThunksByTheirOwnWords) {
  const char* symbol = "_ZThn8_N1A1fEi";  // non-virtual thunk to A::f(int)
  for (const char* name :
       {"*thunk*", "non-virtual thunk*", "*thunk to A::f", "*thunk to A::*(int)"})
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
