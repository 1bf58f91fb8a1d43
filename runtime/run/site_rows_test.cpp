// SPDX-License-Identifier: Apache-2.0
// Programs that map the same library, and probe that alone, have the same rows.
#include "runtime/run/site_rows.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

constexpr HandlerId kHandler = 7;

Site site_of(ModuleId module, uint64_t address, const char* function) {
  Site site;
  site.module = module;
  site.address = address;
  site.function = function;
  return site;
}

Plan plan_of(std::vector<PlanModule> modules, std::vector<Site> sites) {
  Plan plan;
  plan.modules = std::move(modules);
  plan.sites = std::move(sites);
  plan.host_probes.emplace_back().text = "timer.s(1)";
  plan.first_handler = kHandler;
  return plan;
}

// As a session notes them: two rows of its first plan, a further program, and the row of that one's
// host probe.
class Rows : public testing::Test {
 protected:
  Rows() {
    first_.sites.resize(2);
    earlier_.first_site = 2;
    first_.dlopened = earlier_.sites;
    first_.dlopened.emplace_back().function = "timer.s(1)";
    rows_.keep(earlier_);
  }
  const std::vector<Site> sites_ = {site_of(1, 0x10, "read"), site_of(1, 0x20, "write")};
  Plan first_, earlier_ = plan_of({{"/bin/a", ""}, {"/lib/c.so", ""}}, sites_);
  SiteRows rows_;
};

TEST_F(Rows, AnotherProgramOfTheSameLibraryHasThem) {
  EXPECT_EQ(rows_.find(plan_of({{"/bin/b", ""}, {"/lib/c.so", ""}}, sites_), first_), 2u);
}

TEST_F(Rows, TheOrderOfModulesMeansNothing) {
  const std::vector<Site> sites = {site_of(0, 0x10, "read"), site_of(0, 0x20, "write")};
  EXPECT_EQ(rows_.find(plan_of({{"/lib/c.so", ""}, {"/bin/b", ""}}, sites), first_), 2u);
}

TEST_F(Rows, AnotherLibraryAddressNameOrHandlerHasNot) {
  const std::vector<PlanModule> modules = {{"/bin/b", ""}, {"/lib/c.so", ""}};
  EXPECT_FALSE(rows_.find(plan_of({{"/bin/b", ""}, {"/lib/d.so", ""}}, sites_), first_));
  std::vector<Site> sites = sites_;
  sites[1].address++;
  EXPECT_FALSE(rows_.find(plan_of(modules, sites), first_));
  sites = sites_;
  sites[0].function = "pread";
  EXPECT_FALSE(rows_.find(plan_of(modules, sites), first_));
  sites = sites_;
  sites[0].handlers = {1};
  EXPECT_FALSE(rows_.find(plan_of(modules, sites), first_));
  sites.resize(1);
  EXPECT_FALSE(rows_.find(plan_of(modules, sites), first_));
  Plan other = plan_of(modules, sites_);
  other.first_handler++;
  EXPECT_FALSE(rows_.find(other, first_));
  other = plan_of(modules, sites_);
  other.host_probes[0].text = "timer.s(2)";
  EXPECT_FALSE(rows_.find(other, first_));
}

}  // namespace
}  // namespace dj
