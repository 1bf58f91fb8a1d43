// SPDX-License-Identifier: Apache-2.0
// What is found at an address when files lie over each other in several processes.
#include "runtime/session/address_owners.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace dj {
namespace {

AddressOwners::Owner owner(const std::string& path, uint64_t bias) {
  return {{path, std::nullopt}, bias};
}

// "10-20 a, 30-40 b"
std::string text_of(const std::vector<AddressOwners::Owned>& all) {
  std::string text;
  for (const AddressOwners::Owned& each : all) {
    text += (text.empty() ? "" : ", ") + std::to_string(each.range.begin) + "-" +
            std::to_string(each.range.end) + " " + each.owner->file.first;
  }
  return text;
}

TEST(AddressOwners, ALargerFileIsKnownWhereTheSmallerDoesNotReach) {
  AddressOwners owners;
  owners.add({10, 20}, owner("gcc", 0));
  owners.add({10, 50}, owner("cc1", 0));
  owners.add({10, 50}, owner("cc1", 0));
  EXPECT_EQ(text_of(owners.outside({})), "20-50 cc1");
  EXPECT_TRUE(owners.has_others({10, 50}, owner("cc1", 0)));
  EXPECT_FALSE(owners.has_others({20, 50}, owner("cc1", 0)));
  EXPECT_TRUE(owners.has_others({20, 50}, owner("cc1", 1)));
  EXPECT_FALSE(owners.has_others({50, 60}, owner("as", 0)));
}

TEST(AddressOwners, WhatIsTakenIsLeftOut) {
  AddressOwners owners;
  owners.add({10, 50}, owner("a", 0));
  owners.add({60, 70}, owner("b", 0));
  EXPECT_EQ(text_of(owners.outside({{0, 12}, {20, 30}, {45, 65}, {90, 99}})),
            "12-20 a, 30-45 a, 65-70 b");
  EXPECT_EQ(text_of(owners.outside({{0, 100}})), "");
}

// Each address by itself, for comparison.
TEST(AddressOwners, AgreesWithEveryAddress) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    AddressOwners owners;
    std::map<uint64_t, std::set<int>> here;
    for (int i = 0; i < 8; ++i) {
      const uint64_t begin = random() % 30, end = begin + 1 + random() % 10;
      const int file = static_cast<int>(random() % 3);
      owners.add({begin, end}, owner(std::to_string(file), 0));
      for (uint64_t at = begin; at < end; ++at) here[at].insert(file);
    }
    const uint64_t from = random() % 40, to = from + random() % 10;
    std::map<uint64_t, std::string> expected, found;
    for (const auto& [at, files] : here) {
      if (files.size() == 1 && (at < from || at >= to))
        expected[at] = std::to_string(*files.begin());
    }
    for (const auto& [range, its] : owners.outside({{from, to}})) {
      for (uint64_t at = range.begin; at < range.end; ++at) {
        EXPECT_TRUE(found.emplace(at, its->file.first).second);
      }
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace dj
