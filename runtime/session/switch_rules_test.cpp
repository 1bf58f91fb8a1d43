// SPDX-License-Identifier: Apache-2.0
// What is off when several commands mean the same handler.
#include "runtime/session/switch_rules.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

InstalledSite site_of(const char* symbol) {
  InstalledSite site;
  site.symbol = symbol;
  return site;
}

SwitchRules::Means is(const char* symbol) {
  return [symbol](const InstalledSite& site, size_t) { return site.symbol == symbol; };
}

TEST(SwitchRules, TheLastThatMeansAHandlerDecides) {
  const auto all = [](const InstalledSite&, size_t) { return true; };
  SwitchRules rules;
  EXPECT_FALSE(rules.is_off(site_of("a"), 0));
  rules.add("*", all, false);
  rules.add("a", is("a"), true);
  EXPECT_FALSE(rules.is_off(site_of("a"), 0));
  EXPECT_TRUE(rules.is_off(site_of("b"), 0));
  rules.add("*", all, false);
  EXPECT_TRUE(rules.is_off(site_of("a"), 0));
  rules.add("*", all, true);
  EXPECT_FALSE(rules.is_off(site_of("b"), 0));
}

TEST(SwitchRules, AHandlerIsMeantByItsIndex) {
  SwitchRules rules;
  rules.add("0.1", [](const InstalledSite&, size_t handler) { return handler == 1; }, false);
  EXPECT_FALSE(rules.is_off(site_of("a"), 0));
  EXPECT_TRUE(rules.is_off(site_of("a"), 1));
}

}  // namespace
}  // namespace dj
