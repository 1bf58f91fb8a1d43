// How many function entries of real programs may become jumps: numbers to watch, with floors.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

struct Coverage {
  size_t entries = 0, ok = 0;
  std::string reasons;
  double milliseconds = 0;
};

Coverage cover(const std::string& path) {
  test::Victim v = test::read_elf(path);
  auto& taken = v.text.address_taken;
  taken.insert(taken.end(), v.exported.begin(), v.exported.end());
  std::sort(taken.begin(), taken.end());
  std::set<uint64_t> entries;
  for (const FunctionRange& f : v.text.functions) entries.insert(f.begin);
  for (const uint64_t cold : v.cold) entries.erase(cold);
  std::vector<Region> regions;
  for (const uint64_t entry : entries) {
    regions.emplace_back();
    regions.back().address = entry;
  }
  const auto start = std::chrono::steady_clock::now();
  Checker checker(std::move(v.text));
  checker.check(regions);
  Coverage result;
  result.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::map<std::string, int> counts;
  for (const Region& region : regions) {
    counts[verdict_name(region.verdict)]++;
    result.ok += region.verdict == Verdict::Ok;
    if (region.verdict == Verdict::Ok) {
      EXPECT_GE(region.length, 5);
    }
  }
  result.entries = regions.size();
  for (const auto& [name, count] : counts)
    result.reasons += " " + name + " " + std::to_string(count);
  return result;
}

class Real : public testing::TestWithParam<const char*> {};

TEST_P(Real, NearlyAllEntriesBecomeJumps) {
  if (access(GetParam(), R_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
  const Coverage c = cover(GetParam());
  if (c.entries <= 100) GTEST_SKIP() << GetParam() << " only starts a library";
  const double percent = 100.0 * double(c.ok) / double(c.entries);
  printf("%s: %.2f %% of %zu in %.0f ms;%s\n", GetParam(), percent, c.entries, c.milliseconds,
         c.reasons.c_str());
  EXPECT_GE(percent, 97.0);  // node: nobody is seen to enter V8's builtins, so plain jumps are out
  EXPECT_LT(percent, 100.01);
}
INSTANTIATE_TEST_SUITE_P(Files, Real,
                         testing::Values("/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/bin/node"));

}  // namespace
}  // namespace dj::arch
