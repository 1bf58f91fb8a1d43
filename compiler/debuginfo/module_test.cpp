// SPDX-License-Identifier: Apache-2.0
// Functions by name against nm, in whole, stripped and split files; and the text facts of the
// checks.
#include "compiler/debuginfo/module.h"

#include <algorithm>

#include "compiler/debuginfo/text.h"
#include "compiler/debuginfo/victim_support.h"

namespace dj {
namespace {

constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";

constexpr const char* kSource = R"(
#include <stdio.h>
__attribute__((noinline)) static int inner(int a) { return a * 3; }
__attribute__((noinline)) int outer(int a) { return inner(a) + 1; }
int (*pointer)(int) = outer;
int main(int c, char** v) { return pointer(c) == 99; }
)";

Module::Found find(const std::string& file, const std::string& name) {
  Result<std::unique_ptr<Module>> module = Module::open(file);
  EXPECT_TRUE(module.ok()) << file;
  return module.ok() ? module.value()->find(NameMatcher(name)) : Module::Found{};
}

TEST(Module, FindsWhatNmFinds) {
  Folder folder;
  const std::string file = folder.build("gcc -O2", folder.file("t.c", kSource), "t");
  const Module::Found found = find(file, "outer");
  ASSERT_EQ(found.functions.size(), 1u);
  EXPECT_EQ(found.functions[0].begin, nm_address(file, "outer"));
  EXPECT_GT(found.functions[0].end, found.functions[0].begin);
  EXPECT_EQ(find(file, "?nner").functions.at(0).begin, nm_address(file, "inner"));
}

// After many look-ups there is an index: what is found stays the same, versions and suffixes too.
TEST(Module, FindsTheSameByAnIndex) {
  for (const char* file : {kLibc, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/bin/bash"}) {
    std::unique_ptr<Module> fresh, indexed;
    indexed = Module::open(file).take();
    for (int i = 0; i < 60; i++) indexed->find(NameMatcher("malloc"));
    size_t count = 0, looked_up = 0;
    for (const Symbol& symbol : indexed->symbols().functions) {
      if (++count % 40 != 0) continue;
      const std::string whole(symbol.name);
      for (const std::string& name : {whole, whole.substr(0, whole.find('@')), whole + "x",
                                      person_name(whole), whole.substr(0, whole.size() - 1)}) {
        if (looked_up++ % 40 == 0) fresh = Module::open(file).take();
        const Module::Found a = fresh->find(NameMatcher(name));
        const Module::Found b = indexed->find(NameMatcher(name));
        EXPECT_EQ(a.ifuncs, b.ifuncs) << name;
        ASSERT_EQ(a.functions.size(), b.functions.size()) << name;
        for (size_t i = 0; i < a.functions.size(); i++) {
          EXPECT_EQ(a.functions[i].begin, b.functions[i].begin) << name;
          EXPECT_EQ(a.functions[i].symbol, b.functions[i].symbol) << name;
        }
      }
    }
  }
}

TEST(Module, EntryStandsBehindEndbr64) {
  Folder folder;
  const std::string source = folder.file("t.c", kSource);
  const std::string file = folder.build("gcc -O2 -fcf-protection=full", source, "t");
  std::unique_ptr<Module> module = Module::open(file).take();
  const uint64_t begin = nm_address(file, "outer");
  EXPECT_EQ(module->entry_of(begin), begin + 4);
}

TEST(Module, SeparateDebugFileByLinkNamesLocalFunctions) {
  Folder folder;
  const std::string file =
      folder.build("gcc -O2 -g -Wl,--build-id=none", folder.file("t.c", kSource), "t");
  const uint64_t address = nm_address(file, "inner");
  ASSERT_EQ(::system(("cd " + folder.path +
                      " && objcopy --only-keep-debug t t.debug && strip t && "
                      "objcopy --add-gnu-debuglink=t.debug t")
                         .c_str()),
            0);
  const Module::Found found = find(file, "inner");
  ASSERT_EQ(found.functions.size(), 1u);
  EXPECT_EQ(found.functions[0].begin, address);
  // A debug file of another build is not believed, in another session.
  forget_target_files();
  ASSERT_EQ(::system(("printf x >> " + folder.path + "/t.debug").c_str()), 0);
  EXPECT_TRUE(find(file, "inner").functions.empty());
}

TEST(Module, PackedSymbolsInGnuDebugdata) {
  Folder folder;
  const std::string file = folder.build("gcc -O2", folder.file("t.c", kSource), "t");
  const uint64_t address = nm_address(file, "inner");
  ASSERT_EQ(::system(("cd " + folder.path +
                      " && objcopy -S --keep-symbol=inner t mini && xz mini && strip t && "
                      "objcopy --add-section .gnu_debugdata=mini.xz t")
                         .c_str()),
            0);
  const Module::Found found = find(file, "inner");
  ASSERT_EQ(found.functions.size(), 1u);
  EXPECT_EQ(found.functions[0].begin, address);
}

TEST(Module, StrippedFileKnowsOnlyItsExports) {
  Folder folder;
  const std::string file = folder.build("gcc -O2 -s -rdynamic", folder.file("t.c", kSource), "t");
  EXPECT_EQ(find(file, "outer").functions.size(), 1u);
  EXPECT_TRUE(find(file, "inner").functions.empty());
}

TEST(Module, AliasesAreOneFunctionAndIfuncsAreNamed) {
  const Module::Found malloc = find(kLibc, "malloc");
  ASSERT_EQ(malloc.functions.size(), 1u);
  EXPECT_EQ(malloc.functions[0].begin, nm_address(kLibc, "malloc", "-D"));
  const Module::Found both = find(kLibc, "*malloc");
  EXPECT_EQ(
      std::count_if(both.functions.begin(), both.functions.end(),
                    [&](const CodeFunction& f) { return f.begin == malloc.functions[0].begin; }),
      1);
  const Module::Found strlen = find(kLibc, "strlen");
  EXPECT_TRUE(strlen.functions.empty());
  EXPECT_EQ(strlen.ifuncs, std::vector<std::string>{"strlen"});
}

TEST(Module, BrokenFilesAreRefused) {
  Folder folder;
  EXPECT_FALSE(Module::open(folder.path + "/none").ok());
  EXPECT_FALSE(Module::open(folder.file("text", "hello")).ok());
  // Every cut of a real file either opens or is refused, and never breaks.
  const std::string whole = folder.build("gcc -g", folder.file("t.c", kSource), "t");
  const std::string bytes = output_of("cat " + whole);
  for (size_t size = 0; size < bytes.size(); size += 997) {
    Result<std::unique_ptr<Module>> cut = Module::open(folder.file("cut", bytes.substr(0, size)));
    if (cut.ok()) {
      cut.value()->find(NameMatcher("*"));
      cut.value()->debug_info();
      (void)read_text(folder.path + "/cut").ok();
    }
  }
}

bool contains(const std::vector<uint64_t>& values, uint64_t value) {
  return std::binary_search(values.begin(), values.end(), value);
}

TEST(Text, FunctionsDoNotCrossAndAreThoseOfTheFile) {
  const arch::ModuleText text = read_text(kLibc).take();
  ASSERT_GT(text.functions.size(), 2000u);
  std::vector<uint64_t> open;
  uint64_t last = 0;
  for (const arch::FunctionRange& f : text.functions) {
    EXPECT_LE(last, f.begin);
    last = f.begin;
    while (!open.empty() && open.back() <= f.begin) {
      open.pop_back();
    }
    EXPECT_TRUE(open.empty() || f.end <= open.back());
    open.push_back(f.end);
  }
  const uint64_t malloc = nm_address(kLibc, "malloc", "-D");
  EXPECT_TRUE(std::any_of(text.functions.begin(), text.functions.end(),
                          [&](const arch::FunctionRange& f) { return f.begin == malloc; }));
}

TEST(Text, TakenAddressesInPieAndInFixedPrograms) {
  Folder folder;
  const std::string source = folder.file("t.c", kSource);
  for (const char* compiler : {"gcc -O2 -pie -fPIE", "gcc -O2 -no-pie -fno-pie"}) {
    const std::string file = folder.build(compiler, source, "t");
    const arch::ModuleText text = read_text(file).take();
    EXPECT_TRUE(contains(text.address_taken, nm_address(file, "outer"))) << compiler;
    EXPECT_FALSE(contains(text.address_taken, nm_address(file, "inner"))) << compiler;
  }
}

TEST(Text, TakenAddressesInDataThatBeginsAnywhere) {
  Folder folder;
  const std::string source = folder.file("t.c", R"(
    const char odd[SIZE] = "a";
    static __attribute__((noinline)) int inner(int a) { return a + odd[a]; }
    int (*kept)(int) = inner;
    int main(void) { return kept(0); })");
  for (const char* size : {"3", "5", "8"}) {
    const std::string file = folder.build(
        std::string("gcc -O1 -mcmodel=large -fno-pie -no-pie -DSIZE=") + size, source, "t");
    EXPECT_TRUE(contains(read_text(file).take().address_taken, nm_address(file, "inner"))) << size;
  }
}

TEST(Text, LandingPadsLieInTheFunctionThatCatches) {
  Folder folder;
  const std::string source = folder.file("t.cpp", R"(
    __attribute__((noinline)) void thrower(int a) { if (a > 1) throw a; }
    __attribute__((noinline)) int catcher(int a) { try { thrower(a); } catch (int b) { return b; } return 0; }
    int main(int c, char**) { return catcher(c); })");
  for (const char* compiler : {"g++ -O0", "clang++-19 -O2 -fno-inline"}) {
    const std::string file = folder.build(compiler, source, "t");
    const arch::ModuleText text = read_text(file).take();
    const CodeFunction catcher = find(file, "catcher").functions.at(0);
    ASSERT_FALSE(text.landing_pads.empty()) << compiler;
    EXPECT_TRUE(std::any_of(text.landing_pads.begin(), text.landing_pads.end(), [&](uint64_t pad) {
      return pad > catcher.begin && pad < catcher.end;
    })) << compiler;
  }
}

}  // namespace
}  // namespace dj
