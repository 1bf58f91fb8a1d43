// SPDX-License-Identifier: Apache-2.0
// Which arming conditions djtap follows: those that only its own handlers can change.
#include "compiler/check/arming.h"

#include <gtest/gtest.h>

#include "compiler/check/check_support.h"

namespace dj {
namespace {

struct Case {
  const char* script;
  size_t followed;
};

TEST(Arming, FollowedIfOnlyDjtapWrites) {
  const Case cases[] = {
      {R"(global on probe timer.s(1) { on = 1 } probe func("f") if (on) { n++ })", 1},
      {R"(global on probe begin { on = 1 } probe func("f") if (on), func("g") if (!on) { n++ })",
       2},
      {R"(global on probe func("f") if (on) { n++ })", 1},  // -G
      {R"(global on probe func("g") { on = 1 } probe func("f") if (on) { n++ })", 0},
      {R"(global on probe begin, func("g") { on++ } probe func("f") if (on) { n++ })", 0},
      {R"(global on probe func("f") if (on) { on = 0 })", 0},
      {R"(global on function set() { on = 1 } function go() { set() }
          probe func("g") { go() } probe func("f") if (on) { n++ })",
       0},
      {R"(global on function set() { on = 1 } probe begin { set() }
          probe func("f") if (on) { n++ })",
       1},
      {R"(global a probe func("g") { a[1] = 2 } probe func("f") if (3 in a) { n++ })", 0},
      {R"(global a probe func("g") { delete a } probe begin { a[1] = 2 }
          probe func("f") if (a[1]) { n++ })",
       0},
      {R"(global a, b probe func("g") { b[1] = 2 } probe begin { a[1] = 2 }
          probe func("f") if (a[1] == 2) { n++ })",
       1},
      {R"(global on probe timer.s(1) if (on) { n++ })", 0},  // a probe of djtap's own
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.script);
    Checked checked = check_text(each.script);
    ASSERT_TRUE(checked.diags.ok());
    const size_t globals = checked.program.globals.size(), probes = checked.program.probes.size();
    const std::vector<Arming> armings = add_arming_tests(checked.program);
    EXPECT_EQ(armings.size(), each.followed);
    EXPECT_EQ(checked.program.globals.size(), globals + each.followed);
    EXPECT_EQ(checked.program.probes.size(), probes + each.followed);
  }
}

}  // namespace
}  // namespace dj
