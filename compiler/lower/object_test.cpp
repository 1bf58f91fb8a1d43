// SPDX-License-Identifier: Apache-2.0
// The machine code itself, as binutils see it: no vector registers anywhere, the agent needs
// nothing from outside, a counter is the counter alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/lower/agent_blob.h"
#include "compiler/lower/session_test.h"

namespace dj {
namespace {

// Output of `tool` run on these bytes. The tests of this file may run side by side.
std::string output_of(const std::string& tool, std::string_view object) {
  std::string path = testing::TempDir() + "djtap_object_test_" + std::to_string(getpid()) + ".o";
  std::ofstream(path, std::ios::binary)
      .write(object.data(), static_cast<std::streamsize>(object.size()));
  std::string text;
  FILE* pipe = popen((tool + " " + path).c_str(), "r");
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << tool;
  std::remove(path.c_str());
  return text;
}

std::string_view view(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_general_registers_only(const std::string& disassembly) {
  ASSERT_NE(disassembly.find("ret"), std::string::npos);
  for (const char* reg : {"%xmm", "%ymm", "%zmm", "%mm", "%st"}) {
    EXPECT_EQ(disassembly.find(reg), std::string::npos) << reg;
  }
}

// Every family of code in one script.
constexpr const char* kEverything = R"(
global a, s, t, h, n
function f(x) { if (x > 3) return f(x - 1); return x }
probe func("f") {
  a[$a, "k"] += f($b); s <<< $a; h[$a] <<< $b; n++
  foreach ([k, w] in a- limit 5) t .= sprintf("%d %s\n", k, w)
  printf("%d %s %p\n", $a, t, $b)
  if (@count(s)) print(@hist_log(h[$a]))
}
probe end { print(t, a[1, "k"]) }
)";

TEST(Object, HandlersUseGeneralRegistersOnly) {
  TestSession session(kEverything);
  expect_general_registers_only(output_of("objdump -d", view(session.image.object)));
}

TEST(Object, AgentUsesGeneralRegistersOnly) {
  expect_general_registers_only(output_of("objdump -d", agent_object()));
}

std::set<std::string> undefined_in(std::string_view object) {
  std::istringstream lines(output_of("nm -u", object));
  std::set<std::string> names;
  std::string mark, name;
  while (lines >> mark >> name) names.insert(name);
  return names;
}

TEST(Object, AgentNeedsNothingFromOutside) {
  std::set<std::string> allowed = {"dj_arena_base",     "dj_has_rseq",   "dj_rseq",
                                   "dj_stack_block",    "dj_own_stacks", "dj_denied_calls",
                                   "dj_own_stack_words"};
  const std::set<std::string> undefined = undefined_in(agent_object());
  EXPECT_TRUE(undefined.contains("dj_arena_base"));  // nm has said something
  for (const std::string& symbol : undefined) {
    EXPECT_TRUE(allowed.count(symbol)) << symbol;
  }
}

// To compile it takes longer than they run.
TEST(Object, WhatOnlyOwnHandlersCallStaysInTheAgent) {
  auto undefined = [](const char* script) {
    return undefined_in(view(TestSession(script).image.object));
  };
  const auto own = undefined("probe begin { a[1] = 2; println(\"x\") }");
  EXPECT_TRUE(own.count("dj_map_set"));
  EXPECT_TRUE(own.count("dj_event_print"));
  const auto both = undefined(
      "function set(k) { a[k] = 2 }\nprobe func(\"f\") { set($a) }\n"
      "probe end { set(7); println(a[7]) }");
  EXPECT_FALSE(both.count("dj_map_set"));
  EXPECT_TRUE(both.count("dj_event_print"));
}

TEST(Object, ManyHandlersCallWhatFewHaveWithinThem) {
  auto calls = [](int handlers) {
    std::string script;
    for (int i = 0; i < handlers; ++i) script += "probe func(\"f\") { a[$a]++ }\n";
    TestSession session(script);
    const std::string code = output_of("objdump -dr", view(session.image.object));
    const size_t begin = code.find("<dj_handler_1>:");
    return code.substr(begin, code.find("\n\n", begin) - begin).find("<dj_map_update>") !=
           std::string::npos;
  };
  EXPECT_FALSE(calls(4));
  EXPECT_TRUE(calls(21));
}

// A locked instruction costs as much as all the rest of it. Behind the call of what is rare, one
// may stand.
TEST(Object, ElementsThatStayAreSetWithoutALock) {
  auto locks = [](const std::string& more) {
    TestSession session(
        "probe func(\"f\") { t[$a] = $b }\nprobe end { foreach (k in t) println(t[k]) " + more +
        "}");
    return output_of("objdump -d", view(session.image.object)).find("lock cmpxchg16b") !=
           std::string::npos;
  };
  EXPECT_FALSE(locks(""));
  EXPECT_TRUE(locks("delete t[1] "));
}

TEST(Object, CounterIsTheCounterAlone) {
  SessionOptions options;
  options.want_texts = true;
  TestSession session("probe func(\"f\") < count++ >", options);
  std::string code = output_of("objdump -d --no-show-raw-insn", view(session.image.object));
  size_t begin = code.find("<dj_handler_0>:");
  ASSERT_NE(begin, std::string::npos);
  std::string handler = code.substr(begin, code.find("\n\n", begin) - begin);
  EXPECT_EQ(handler.find("push"), std::string::npos) << handler;
  EXPECT_EQ(handler.find("call"), std::string::npos) << handler;
  EXPECT_NE(handler.find("%fs:"), std::string::npos) << handler;
  EXPECT_NE(session.image.ir.find("define hidden preserve_mostcc void @dj_handler_0"),
            std::string::npos);
  EXPECT_NE(session.image.assembly.find("dj_handler_0:"), std::string::npos);
}

TEST(Object, BytesNeededAreBoundedFromAbove) {
  for (const char* script : {"probe func(\"f\") < count++ >", kEverything}) {
    TestSession session(script);
    EXPECT_LE(session.linked.bytes_used, link_bytes(session.image));
  }
}

TEST(Object, HostLinkRunsHandlers) {
  TestSession session("global n\nprobe end { n += 5 }");
  Result<Linked> host = link_host(session.image);
  ASSERT_TRUE(host.ok()) << host.error().message;
  reinterpret_cast<void (*)()>(host.value().symbols.at("dj_handler_0"))();
  EXPECT_EQ(session.number("n"), 5);
}

}  // namespace
}  // namespace dj
