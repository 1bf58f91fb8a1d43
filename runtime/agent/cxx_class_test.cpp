// SPDX-License-Identifier: Apache-2.0
// cxx_class() against the C++ library's own demangler: classes of real libraries, and what is no
// name.
#include <cxxabi.h>
#include <stdio.h>
#include <stdlib.h>

#include <random>

#include "runtime/agent/arena_support.h"
#include "stdlib/entries.h"

namespace dj {
namespace {

class CxxClass : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    header().max_string = 4096;
    ctx = dj_enter(0);
    ASSERT_NE(ctx, nullptr);
    before_ = data_.next;
  }
  std::string named(const std::string& mangled) {
    ctx->scratch_used = 0;
    data_.next = before_;
    return text(dj_cxx_class(ctx, str(mangled)));
  }
  abi::Context* ctx = nullptr;

 private:
  uint64_t before_ = 0;
};

// As the C++ library says, but for tags and for its two ways to end nested templates; empty: it is
// no type.
std::string library_name(const std::string& mangled) {
  int status = 0;
  char* text = ::abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : "";
  free(text);
  for (size_t tag; (tag = name.find("[abi:")) != std::string::npos;)
    name.erase(tag, name.find(']', tag) + 1 - tag);
  return name;
}

std::string joined(std::string name) {
  for (size_t at; (at = name.find("> >")) != std::string::npos;) name.erase(at + 1, 1);
  return name;
}

// Types whose type information the libraries of this machine export, as typeid(x).name() gives
// them.
std::vector<std::string> exported_types() {
  FILE* lines = popen(
      "nm -D -f posix /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /usr/bin/node /usr/bin/gdb "
      "/usr/lib/x86_64-linux-gnu/libclang-cpp.so.19.1 2>/dev/null | sed -n 's/^_ZTI\\([^ "
      "@]*\\).*/\\1/p' | sort -u",
      "r");
  std::vector<std::string> types;
  for (char line[1 << 14]; fgets(line, sizeof line, lines) != nullptr;) {
    types.emplace_back(line, strcspn(line, "\n"));
    if (types.back().size() > 500) types.pop_back();  // MAXSTRINGLEN
  }
  pclose(lines);
  return types;
}

TEST_F(CxxClass, NamesAreTheLibrarys) {
  std::vector<std::string> types = exported_types();
  ASSERT_GT(types.size(), 200u);
  size_t compared = 0;
  for (const std::string& mangled : types) {
    std::string truth = library_name(mangled);
    if (truth.empty() || mangled.find("Ed_Ul") != std::string::npos)
      continue;  // of a default argument
    EXPECT_EQ(joined(named(mangled)), joined(truth)) << mangled;
    ++compared;
  }
  EXPECT_GT(compared, 200u);
}

TEST_F(CxxClass, EveryForm) {
  for (const char* mangled : {"i",
                              "Pv",
                              "PKc",
                              "RA5_i",
                              "PA5_A6_i",
                              "FviE",
                              "PFviE",
                              "PFPFicEvE",
                              "M3foo3bar",
                              "M3fooKFviE",
                              "N3foo3barIiEE",
                              "St6vectorIiSaIiEE",
                              "NSt8__detail14_Hash_node_baseE",
                              "N4shop3boxILb1ELi5ELin3ELm7ELc65ELNS_5colorE1EEE",
                              "Z4mainE5local",
                              "ZN1a1bEvE5local_0",
                              "ZNK1a1bEiE5local__12_",
                              "Z6throwsIiEvT_E5local",
                              "ZN3boxIiEC1EvEUlvE_",
                              "ZN3boxIiED1EvE1x",
                              "N12_GLOBAL__N_13fooE",
                              "UlvE_",
                              "ZN3fooclEvEUlicE0_",
                              "N3fooUt_E",
                              "3barIJiPKcEE",
                              "3barIJEE",
                              "DFviE",
                              "Dn",
                              "Ss",
                              "SaIcE",
                              "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                              "rVKi",
                              "PKFviE",
                              "PDoFviE",
                              "M3fooKFviRE",
                              "4pairIS_S_E",
                              "St4pairI3fooS0_E",
                              "St4pairIPK3fooS2_E"}) {
    std::string truth = library_name(mangled);
    EXPECT_EQ(named(mangled), truth.empty() ? mangled : truth);
  }
  EXPECT_EQ(named("*N3foo3barE"), "foo::bar");  // known in one unit only
}

// Names that are cut, changed, endless: given back as they stand, or as something; never more.
TEST_F(CxxClass, WhatIsNoName) {
  for (const char* text : {"",   "*",       "N",      "NE",  "I",  "3fo",   "99999999999foo",
                           "S_", "S5_",     "T_",     "1a1", "Z",  "PPPPP", "LE",
                           "St", "N3fooIE", "65535a", "M",   "A5", "Fi",    "plain text"})
    EXPECT_EQ(named(text), *text == '*' ? "" : text);
  std::mt19937 random(3);
  std::vector<std::string> types = exported_types();
  for (int i = 0; i < 100'000; ++i) {
    std::string text = types[random() % types.size()];
    for (uint32_t n = random() % 4; n-- > 0 && !text.empty();) {
      text[random() % text.size()] = "NIESZ_0123JPKFTDLUl*"[random() % 20];
      if (random() % 4 == 0) text.resize(random() % text.size());
    }
    EXPECT_LE(named(text).size(), 4096u);
  }
  EXPECT_EQ(named(std::string(3000, 'P') + "i"), std::string(3000, 'P') + "i");
  std::string pairs = "St4pairIiiE";
  for (int i = 0; i < 30; ++i)
    pairs = "St4pairI" + pairs + "S" +
            std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]) + "_E";
  EXPECT_LE(named(pairs).size(), 4096u);
}

}  // namespace
}  // namespace dj
