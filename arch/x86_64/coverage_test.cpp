// SPDX-License-Identifier: Apache-2.0
// How many function entries of real programs may become jumps: numbers to watch, with floors.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/placement.h"
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

// What is counted as a jump can be made: its best form's detour. A plain jump leaves what is behind
// it its bytes.
std::string detour_problem(const ModuleText& text, const Region& region, const Leaving& leaving) {
  const std::optional<Placement> form = best(region, space_of(text));
  if (!form) return "no form";
  DetourRequest request;
  request.original = region.address;
  request.guards = form->guards;
  if (is_plain(region)) request.intact_from = 5;
  request.leaving = leaving;
  if (region.probe_address > region.address)
    request.handlers_at = uint32_t(region.probe_address - region.address);
  for (const TextRange& range : text.text) {
    const uint64_t at = region.address - range.address;
    if (at < range.bytes.size()) request.region = range.bytes.subspan(at, form->length);
  }
  const Result<Detour> detour = build_detour(request, text.image_end + 4096);
  return detour.ok() ? "" : detour.error().message;
}

test::Victim whole_file(const std::string& path) {
  test::Victim v = test::read_elf(path);
  v.text.image_begin = v.text.text.front().address;
  for (const TextRange& r : v.text.text) {
    v.text.image_end = std::max(v.text.image_end, r.address + r.bytes.size());
  }
  return v;
}

std::set<uint64_t> instructions(const ModuleText& text) {
  std::set<uint64_t> places;
  for (const FunctionRange& f : text.functions) {
    for (uint64_t at = f.begin; at < f.end;) {
      const auto holds = [at](const TextRange& r) { return at - r.address < r.bytes.size(); };
      const auto range = std::find_if(text.text.begin(), text.text.end(), holds);
      Insn insn;
      if (range == text.text.end()) break;
      if (!decode(range->bytes.subspan(at - range->address), at, insn)) break;
      places.insert(at);
      at = insn.end();
    }
  }
  return places;
}

class Built : public testing::TestWithParam<const char*> {};

TEST_P(Built, EveryJumpHasItsDetour) {
  if (access(GetParam(), R_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
  const test::Victim v = whole_file(GetParam());
  const bool large = v.text.functions.size() > 20'000;  // entries and exits will do
  std::vector<Region> regions;
  std::vector<Leaving> leaving;
  Checker checker(v.text);
  std::set<uint64_t> places = large ? std::set<uint64_t>() : instructions(v.text);
  for (const FunctionRange& f : v.text.functions) {
    places.insert(f.begin);
    for (const Exit& exit : checker.exits(f.begin, f.end).exits) {
      regions.push_back(exit.region);
      leaving.push_back(exit.leaving);
    }
  }
  for (const uint64_t place : places) regions.push_back({.address = place});
  leaving.resize(regions.size());
  checker.check_alone(regions, Guards::WhereNeeded);
  size_t jumps = 0;
  for (size_t i = 0; i < regions.size(); i++) {
    if (regions[i].verdict != Verdict::Ok) continue;
    jumps++;
    EXPECT_EQ(detour_problem(v.text, regions[i], leaving[i]), "")
        << GetParam() << " " << std::hex << regions[i].address << " " << regions[i].probe_address;
  }
  printf("%s: %zu jumps of %zu places\n", GetParam(), jumps, regions.size());
  EXPECT_GT(jumps, 1000u);
}
INSTANTIATE_TEST_SUITE_P(Files, Built,
                         testing::Values("/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/llvm-19/lib/libLLVM.so.1"));

}  // namespace
}  // namespace dj::arch
