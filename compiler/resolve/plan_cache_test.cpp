// SPDX-License-Identifier: Apache-2.0
// What is kept of a plan comes back as it was; what cannot be kept is not.
#include "compiler/resolve/plan_cache.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

Plan some_plan() {
  Plan plan;
  plan.modules = {{"/bin/a", "1234"}, {"/lib/b", ""}};
  for (uint64_t i = 0; i < 1500; i++) {
    Site site;
    site.module = i % 2;
    site.kind = i % 3 == 0 ? SiteKind::Return : SiteKind::Entry;
    site.address = 0x1000 + 16 * i;
    site.function_begin = site.address - 4;
    site.function_end = site.address + 9;
    site.symbol = "_Z" + std::to_string(i);
    site.function = i % 5 == 0 ? "" : "f" + std::to_string(i);
    site.handlers.assign(i % 4, HandlerId(i % 2));
    plan.sites.push_back(site);
  }
  plan.handlers.resize(2);
  plan.handlers[0].wants_site = true;
  plan.handlers[1].probe = 1;
  plan.handlers[1].role = Handler::Role::Host;
  plan.handlers[1].form = Handler::Form::Host;
  plan.host_probes.push_back({HostProbe::When::Timer, 1000, 5, 1, "timer.us(1)"});
  plan.awaits_objects = true;
  plan.loader_site = 7;
  return plan;
}

TEST(CachedPlan, ComesBackAsItWas) {
  const Plan plan = some_plan();
  const std::string bytes = pack_plan(plan);
  const std::optional<Plan> back = unpack_plan(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(dump(*back), dump(plan));
  ASSERT_EQ(back->sites.size(), plan.sites.size());
  for (size_t i = 0; i < plan.sites.size(); i++) {
    const Site &a = back->sites[i], &b = plan.sites[i];
    EXPECT_EQ(std::tie(a.module, a.kind, a.address, a.function_begin, a.function_end, a.function),
              std::tie(b.module, b.kind, b.address, b.function_begin, b.function_end, b.function));
    EXPECT_EQ(std::tie(a.symbol, a.handlers), std::tie(b.symbol, b.handlers));
  }
  EXPECT_TRUE(back->handlers[0].wants_site);
  EXPECT_EQ(back->host_probes[0].interval_ns, 1000u);
  EXPECT_EQ(back->host_probes[0].random_ns, 5u);
  EXPECT_EQ(back->host_probes[0].text, "timer.us(1)");
  EXPECT_TRUE(back->awaits_objects);
  EXPECT_EQ(back->loader_site, std::optional<SiteId>(7));
}

TEST(CachedPlan, IgnoresWhatIsNotWhole) {
  const std::string bytes = pack_plan(some_plan());
  for (size_t size : {size_t(0), size_t(7), bytes.size() / 2, bytes.size() - 8}) {
    EXPECT_FALSE(unpack_plan(std::span(bytes).first(size)).has_value()) << size;
  }
  EXPECT_FALSE(unpack_plan(bytes + "        ").has_value());
}

TEST(CachedPlan, KeepsOnlyWholeFunctionsInThousands) {
  const auto kept = [](auto change) {
    Plan plan = some_plan();
    change(plan);
    return !pack_plan(plan).empty();
  };
  EXPECT_TRUE(kept([](Plan&) {}));
  EXPECT_FALSE(kept([](Plan& p) { p.sites.resize(10); }));
  EXPECT_FALSE(kept([](Plan& p) { p.sites[3].mark.emplace(); }));
  EXPECT_FALSE(kept([](Plan& p) { p.sites[3].call.emplace(); }));
  EXPECT_FALSE(kept([](Plan& p) { p.sites[3].line = 5; }));
  EXPECT_FALSE(kept([](Plan& p) { p.handlers[0].targets.push_back(Undefined{}); }));
  EXPECT_FALSE(kept([](Plan& p) { p.first_site = 1; }));
}

}  // namespace
}  // namespace dj
