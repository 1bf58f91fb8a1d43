// SPDX-License-Identifier: Apache-2.0
// Histogram text against drawings made by hand after SystemTap's language reference.
#include "runtime/output/histogram.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/shared/stat.h"

namespace dj {
namespace {

std::string bar(int n) { return std::string(n, '@') + std::string(50 - n, ' '); }

TEST(Histogram, LogKeepsTwoEmptyBucketsAndElidesTheRest) {
  std::vector<int64_t> counts(abi::kLogBuckets);
  counts[65 + 2] = 4;   // values 2 and 3
  counts[65 + 11] = 1;  // 1024 .. 2047
  std::string expected = "value |" + std::string(50, '-') + " count\n";
  expected += "    0 |" + bar(0) + " 0\n";
  expected += "    1 |" + bar(0) + " 0\n";
  expected += "    2 |" + bar(4) + " 4\n";
  expected += "    4 |" + bar(0) + " 0\n";
  expected += "    8 |" + bar(0) + " 0\n";
  expected += "      ~\n";
  expected += "  256 |" + bar(0) + " 0\n";
  expected += "  512 |" + bar(0) + " 0\n";
  expected += " 1024 |" + bar(1) + " 1\n";
  expected += " 2048 |" + bar(0) + " 0\n";
  expected += " 4096 |" + bar(0) + " 0\n\n";
  EXPECT_EQ(draw_histogram(counts, {}, abi::kHistLog), expected);
}

TEST(Histogram, LinearNamesWhatLiesOutside) {
  abi::StatShape shape{};
  shape.linear_start = 10;
  shape.linear_step = 5;
  shape.linear_count = 4;  // below 10, 10, 15, above
  std::vector<int64_t> counts = {2, 100, 50, 1};
  std::string text = draw_histogram(counts, shape, abi::kHistLinear);
  EXPECT_NE(text.find("  <10 |" + bar(1)), std::string::npos) << text;
  EXPECT_NE(text.find("   10 |" + bar(50) + " 100"), std::string::npos) << text;
  EXPECT_NE(text.find("  >15 |" + bar(0) + "   1"), std::string::npos) << text;
}

TEST(Histogram, NothingForNoSamples) {
  EXPECT_EQ(draw_histogram(std::vector<int64_t>(abi::kLogBuckets), {}, abi::kHistLog), "");
}

}  // namespace
}  // namespace dj
