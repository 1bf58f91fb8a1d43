// SPDX-License-Identifier: Apache-2.0
// Programs that grow: numbers that stay, numbers that move, and what is refused.
#include "compiler/check/grown_program.h"

#include <gtest/gtest.h>

#include "compiler/check/check_support.h"
#include "compiler/check/dump_program.h"

namespace dj {
namespace {

// `first` with `more` behind it, as one text: so the places of `first` are the same in both.
struct Grown {
  Program running;
  Diags diags;
  Sources sources;
  ProbeId first = 0;

  Grown(const std::string& script, const std::string& more) {
    running = std::move(check_text(script).program);
    Checked next = check_text(script + more);
    EXPECT_TRUE(next.diags.ok()) << next.rendered();
    sources = std::move(next.sources);
    first = add_probes(running, std::move(next.program), diags);
  }
  std::string said() const {
    std::string all;
    for (const Diag& diag : diags.all()) all += diag.code + " " + diag.message + "\n";
    return all;
  }
};

TEST(GrownProgram, KeepsNumbersAndMovesThose) {
  Grown grown(
      R"(global a function f() { return 1 } probe func("x") { a += f(); printf("one") })",
      R"( global b function g() { return 2 } probe func("y") { a += g(); b[1] = f(); printf("two") })");
  ASSERT_TRUE(grown.diags.ok()) << grown.said();
  EXPECT_EQ(grown.first, 1u);
  ASSERT_EQ(grown.running.globals.size(), 2u);
  EXPECT_EQ(grown.running.globals[0].name, "a");
  EXPECT_EQ(grown.running.globals[1].name, "b");
  EXPECT_EQ(grown.running.functions.size(), 3u);  // those of both, f() twice
  EXPECT_EQ(grown.running.formats.size(), 3u);
  const std::string text = dump(grown.running);
  EXPECT_NE(text.find("@a += g()"), std::string::npos) << text;
  EXPECT_NE(text.find("@b[1] = f()"), std::string::npos) << text;
}

TEST(GrownProgram, ShrinksToWhatItWas) {
  const std::string script = R"(global a probe func("x") { a++ })";
  Program running = std::move(check_text(script).program);
  const std::string before = dump(running);
  const ProgramSize size = size_of(running);
  Diags diags;
  add_probes(running, std::move(check_text(script + R"( probe func("y") { b <<< 1 })").program),
             diags);
  EXPECT_EQ(running.globals.size(), 2u);
  shrink(running, size);
  EXPECT_EQ(dump(running), before);
}

struct Refused {
  const char* script;
  const char* more;
  const char* said;
};

TEST(GrownProgram, RefusesWhatHandlersDoNotKeep) {
  const Refused cases[] = {
      {R"(global n probe func("x") { n = 1 } probe end { print(n) })",
       R"(probe func("y") { n = 1.5 })", "DJ2036 `n` of the running session has another type"},
      {R"(global n probe func("x") { n++ })", R"(probe func("y") { if (n > 3) exit() })",
       "DJ2036 `n` of the running session is only counted by the handlers that run, and these read "
       "or set it"},
      {R"(global a[10] probe func("x") { a[1]++ })", R"(probe func("y") { delete a[1] })",
       "DJ2036 `a` of the running session is only added to by the handlers that run, and these "
       "read it or take elements out"},
      {R"(global s probe func("x") { s <<< 1 })", R"(probe end { print(@hist_log(s)) })",
       "DJ2036 `s` of the running session is asked for statistics that are not kept"},
      {R"(probe func("x") { n++ })", R"(probe func("y") { n = 5 })",
       "DJ2036 `n` of the running session would be another variable with the probes that are "
       "added"},
      {R"(probe func("x") { n++ })", R"(global n probe func("y") { n = 5 })",
       "DJ2036 `n` of the running session would be another variable with the probes that are "
       "added"},
  };
  for (const Refused& each : cases) {
    const Grown grown(each.script, std::string(" ") + each.more);
    EXPECT_EQ(grown.said(), std::string(each.said) + "\n") << each.more;
    EXPECT_EQ(grown.diags.all().front().help,
              "use a variable of another name in the probes that are added");
  }
}

}  // namespace
}  // namespace dj
