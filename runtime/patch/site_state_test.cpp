// SPDX-License-Identifier: Apache-2.0
// Every pair of states: which steps of the life cycle exist, and that no other one can be taken.
#include "runtime/patch/site_state.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "runtime/patch/patch.h"

namespace dj {
namespace {

using enum SiteState;
constexpr SiteState kAll[] = {Registered, Int3, Optimizing, Optimized, Disarmed, Skipped, Gone};

const std::set<std::pair<SiteState, SiteState>> kLegal = {
    {Registered, Int3},     {Registered, Optimizing}, {Registered, Skipped},
    {Registered, Gone},     {Int3, Optimizing},       {Int3, Disarmed},
    {Int3, Gone},           {Optimizing, Optimized},  {Optimizing, Disarmed},
    {Optimizing, Gone},     {Optimized, Int3},        {Optimized, Disarmed},
    {Optimized, Gone},      {Disarmed, Int3},         {Disarmed, Gone},
    {Disarmed, Optimizing}, {Disarmed, Skipped},
};

TEST(SiteState, EveryStepIsLegalOrNot) {
  for (SiteState from : kAll) {
    for (SiteState to : kAll) {
      EXPECT_EQ(is_legal_step(from, to), kLegal.count({from, to}) == 1)
          << site_state_name(from) << " -> " << site_state_name(to);
    }
  }
}

TEST(SiteState, LegalStepsAreTaken) {
  for (auto [from, to] : kLegal) {
    PatchSite site;
    site.state = from;
    set_state(site, to);
    EXPECT_EQ(site.state, to);
  }
}

TEST(SiteStateDeathTest, AnIllegalStepEndsDjtap) {
  PatchSite site;
  site.state = Skipped;
  EXPECT_DEATH(set_state(site, Int3), "");
}

}  // namespace
}  // namespace dj
