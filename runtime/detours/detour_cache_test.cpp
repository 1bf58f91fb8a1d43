// SPDX-License-Identifier: Apache-2.0
// Files of kept detours that are damaged: what is read from them leads to nothing outside of them.
#include "runtime/detours/detour_cache.h"

#include <gtest/gtest.h>

#include <random>

namespace dj {
namespace {

constexpr uint64_t kBias = 0x10000, kDetour = 0x20000;

// A place with a detour of eight bytes and a note of four.
struct CachedDetoursOfOnePlace : testing::Test {
  CachedDetoursOfOnePlace() : modules(1), sites(1), bytes(8, 0x90), note(4, 1) {
    modules[0].bias = kBias;
    PatchSite& site = sites[0];
    site.address = kBias + 0x100;
    site.original = {0x55, 0x48, 0x89, 0xe5, 0x53};  // push, mov, push
    site.displaced = 5;
    site.jump = true;
    site.state = SiteState::Optimized;
    site.detour = kDetour;
    site.detour_bytes = static_cast<uint32_t>(bytes.size());
    site.note_bytes = static_cast<uint32_t>(note.size());
    site.copies = {{0, kDetour}, {1, kDetour + 1}, {4, kDetour + 4}};
  }
  std::string pack() const {
    return pack_detours(
        sites, modules, [this](uint64_t, uint64_t) { return std::span<const uint8_t>(bytes); },
        [](const PatchSite&, const PatchCall&) { return kDetour; },
        [this](const PatchSite&) { return std::span<const uint8_t>(note); });
  }
  std::vector<MappedModule> modules;
  std::vector<PatchSite> sites;
  std::vector<uint8_t> bytes, note;
};

TEST_F(CachedDetoursOfOnePlace, AreFoundForThePlace) {
  const std::string kept = pack();
  CachedDetours detours(CachedBytes{kept, nullptr}, modules);
  const std::optional<CachedDetour> found = detours.find(sites[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::vector<uint8_t>(found->bytes.begin(), found->bytes.end()), bytes);
  EXPECT_EQ(std::vector<uint8_t>(found->note.begin(), found->note.end()), note);
}

// Whatever the bytes are: they are refused, or every span lies in them.
TEST_F(CachedDetoursOfOnePlace, BytesThatAreChangedAtRandomDoNoHarm) {
  const std::string kept = pack();
  std::mt19937 luck(1);
  for (int i = 0; i < 100'000; i++) {
    std::string changed = kept;
    for (uint32_t n = 0; n <= luck() % 3; n++) {
      changed[luck() % changed.size()] = static_cast<char>(luck() % 4 == 0 ? 0xff : luck());
    }
    CachedDetours detours(CachedBytes{changed, nullptr}, modules);
    const std::optional<CachedDetour> found = detours.find(sites[0]);
    if (!found) continue;
    const auto is_inside = [&](std::span<const uint8_t> part) {
      const auto* begin = reinterpret_cast<const uint8_t*>(changed.data());
      return part.empty() ||
             (part.data() >= begin && part.data() + part.size() <= begin + changed.size());
    };
    ASSERT_TRUE(is_inside(found->bytes));
    ASSERT_TRUE(is_inside(found->note));
  }
}

}  // namespace
}  // namespace dj
