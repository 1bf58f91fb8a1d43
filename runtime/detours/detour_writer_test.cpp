// SPDX-License-Identifier: Apache-2.0
// Detours built into memory of the test: no process is looked at, and places are bytes.
#include "runtime/detours/detour_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dj {
namespace {

using testing::HasSubstr;

constexpr uint64_t kModule = 0x400000, kArea = 0x500000, kCode = 0x100;
constexpr uint64_t kHandler = kArea + 0x10, kSwitchedOff = kArea + 0x20;
const std::vector<uint8_t> kPrologue = {0x55, 0x48, 0x89, 0xe5, 0x53};  // push, mov, push

Result<Linked> link_by_hand(uint64_t base, std::span<uint8_t> working, uint64_t) {
  Linked linked;
  linked.symbols = {{"dj_handler_0", base + 0x10}, {"dj_switched_off", base + 0x20}};
  linked.handlers = {base + 0x10};
  working[0x10] = working[0x20] = 0xc3;
  linked.bytes_used = kCode;
  return linked;
}

PatchSite place_at(uint64_t address) {
  PatchSite site;
  site.address = address;
  site.jump = true;
  site.original = kPrologue;
  site.displaced = static_cast<uint32_t>(kPrologue.size());
  site.calls = {{.site = 0, .handler = 0}};
  site.owners = {0};
  return site;
}

class DetoursInMemory : public testing::Test {
 public:
  DetoursInMemory() : bytes(64 << 10), abis(1) {
    MappedModule module;
    module.path = "program";
    module.bias = module.begin = kModule;
    module.end = kModule + 0x1000;
    modules = {module};
    CodeAreas areas;
    areas.add_area({module.begin, module.end}, kArea, bytes);
    Result<DetourWriter> linked = DetourWriter::link_all(std::move(areas), kCode, link_by_hand);
    detours.emplace(linked.take());
    EXPECT_TRUE(detours->give_notes().ok());
    patches.sites = {place_at(kModule + 0x100)};
  }
  PatchSite& site() { return patches.sites[0]; }
  std::span<const uint8_t> built() {
    return detours->areas().view(site().detour, site().detour_bytes);
  }

  std::vector<uint8_t> bytes;  // of the code area
  std::vector<HandlerAbi> abis;
  std::vector<MappedModule> modules;
  PatchPlan patches;
  std::optional<DetourWriter> detours;
};

TEST_F(DetoursInMemory, CallTheHandlerAndThenRunWhatTheyReplace) {
  ASSERT_TRUE(detours->build(site(), abis).ok());
  ASSERT_EQ(site().copies.size(), 3u);
  for (const auto& [offset, copy] : site().copies) {
    EXPECT_EQ(built()[copy - site().detour], kPrologue[offset]);
  }
  const std::vector<uint8_t> all(built().begin(), built().end());
  const uint64_t first = site().copies.front().second;
  bool calls = false;  // e8 rel32 in front of the first copy
  for (uint64_t at = site().detour; at + 5 <= first; at++) {
    int32_t distance = 0;
    std::memcpy(&distance, &all[at - site().detour + 1], sizeof distance);
    calls = calls || (all[at - site().detour] == 0xe8 &&
                      at + 5 + static_cast<uint64_t>(int64_t{distance}) == kHandler);
  }
  EXPECT_TRUE(calls);
}

TEST_F(DetoursInMemory, AreOutOfReachWhereNoAreaServes) {
  site().address = kModule + (uint64_t{4} << 30);
  EXPECT_FALSE(detours->build(site(), abis).ok());
}

TEST_F(DetoursInMemory, SwitchACallByOneWord) {
  ASSERT_TRUE(detours->give_slots({&site()}).ok());
  const uint64_t slot = site().calls[0].slot;
  ASSERT_NE(slot, 0u);
  const auto word = [&] {
    uint64_t value = 0;
    std::memcpy(&value, detours->areas().view(slot, sizeof value).data(), sizeof value);
    return value;
  };
  EXPECT_EQ(word(), kHandler);
  site().calls[0].off = kOffByCommand;
  detours->turn(site(), site().calls[0]);
  EXPECT_EQ(word(), kSwitchedOff);
}

TEST_F(DetoursInMemory, SayWhenTheAreaIsFull) {
  Status built = ok_status();
  std::vector<PatchSite> sites;
  for (uint64_t at = 0; at < 0x1000 && built.ok(); at += 1) {
    sites.push_back(place_at(kModule + at));
    built = detours->build(sites.back(), abis);
  }
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, HasSubstr("no room left for code"));
}

}  // namespace
}  // namespace dj
