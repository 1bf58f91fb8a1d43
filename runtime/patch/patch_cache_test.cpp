// SPDX-License-Identifier: Apache-2.0
// Patches that were kept are the same where the modules are now.
#include "runtime/patch/patch_cache.h"

#include <gtest/gtest.h>

#include <random>

namespace dj {
namespace {

constexpr uint64_t kBias = 0x10000;

struct Kept : testing::Test {
  Kept() {
    plan.sites.resize(3);
    plan.handlers.resize(2);
    modules.resize(2);
    modules[1].bias = kBias;
    PatchSite plain;
    plain.address = kBias + 0x100;
    plain.module = 1;
    plain.original = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x50};  // push, mov, push, push
    plain.displaced = 6;
    plain.rest = 1;
    plain.jump = true;
    plain.calls = {{2, 1, arch::Form::Boundary}};
    plain.owners = {2};
    PatchSite guarded = plain;
    guarded.address += 0x20;
    guarded.form = std::make_shared<JumpForm>();
    guarded.form->region.address = guarded.address;
    guarded.form->region.probe_address = guarded.address + 3;
    guarded.form->region.stretch = 6;
    guarded.form->placements = {{arch::Tactic::Guarded, 6, 0, 4, guarded.address, 0xff, 0xcc}};
    guarded.form->int3_length = 2;
    PatchSite skipped;
    skipped.address = 0x77;
    skipped.owners = {0};
    skipped.skip("blacklisted");
    PatchSite hook = plain;
    hook.hook = true;
    hook.owners.clear();
    hook.calls.clear();
    patches.sites = {skipped, plain, guarded};
    patches.hooks = {hook};
  }
  Plan plan;
  std::vector<MappedModule> modules;
  PatchPlan patches;
};

TEST_F(Kept, ComeBackWhereTheModuleIsNow) {
  const std::string bytes = pack_patches(patches, modules);
  constexpr uint64_t kMoved = 0x7000000;
  modules[1].bias += kMoved;
  const std::optional<PatchPlan> back = unpack_patches(bytes, plan, modules);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->sites.size(), 3u);
  ASSERT_EQ(back->hooks.size(), 1u);
  for (size_t i : {1, 2}) {
    const PatchSite &now = back->sites[i], &then = patches.sites[i];
    EXPECT_EQ(now.address, then.address + kMoved);
    EXPECT_EQ(now.module, then.module);
    EXPECT_EQ(now.original, then.original);
    EXPECT_EQ(now.displaced, then.displaced);
    EXPECT_EQ(now.rest, then.rest);
    EXPECT_TRUE(now.jump);
    EXPECT_EQ(now.owners, then.owners);
    ASSERT_EQ(now.calls.size(), 1u);
    EXPECT_EQ(now.calls[0].site, 2u);
    EXPECT_EQ(now.calls[0].handler, 1u);
    EXPECT_EQ(now.state, SiteState::Registered);
  }
  EXPECT_EQ(back->sites[1].form, nullptr);
  const JumpForm &now = *back->sites[2].form, &then = *patches.sites[2].form;
  EXPECT_EQ(now.region.address, then.region.address + kMoved);
  EXPECT_EQ(now.region.probe_address, then.region.probe_address + kMoved);
  EXPECT_EQ(now.placements.at(0).jump, then.placements[0].jump + kMoved);
  EXPECT_EQ(now.placements[0].guards, then.placements[0].guards);
  EXPECT_EQ(now.placements[0].value, then.placements[0].value);
  EXPECT_EQ(now.int3_length, 2);
  EXPECT_EQ(back->sites[0].state, SiteState::Skipped);
  EXPECT_EQ(back->sites[0].reason, "blacklisted");
  EXPECT_EQ(back->sites[0].address, 0x77u);
  EXPECT_TRUE(back->hooks[0].hook);
}

TEST_F(Kept, KeepTheHookThatIsOfNoSite) {
  PatchCall object{.site = ~0u, .handler = ~0u, .kind = PatchCall::Object};
  patches.sites[1].calls.push_back(object);
  const auto back = unpack_patches(pack_patches(patches, modules), plan, modules);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->sites[1].calls.size(), 2u);
  EXPECT_EQ(back->sites[1].calls[1].kind, PatchCall::Object);
}

TEST_F(Kept, BelongToTheirModulesInAnyOrder) {
  modules[0].path = "/a";
  modules[1].path = "/b";
  const std::string bytes = pack_patches(patches, modules);
  std::swap(modules[0], modules[1]);
  const std::optional<PatchPlan> back = unpack_patches(bytes, plan, modules);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->sites[0].address, patches.sites[1].address);
  EXPECT_EQ(back->sites[0].module, 0u);
  EXPECT_EQ(back->sites[2].address, 0x77u);
  EXPECT_EQ(back->sites[2].module, 1u);
}

TEST_F(Kept, AreRefusedForAnotherPlan) {
  const std::string bytes = pack_patches(patches, modules);
  ASSERT_TRUE(unpack_patches(bytes, plan, modules).has_value());
  EXPECT_FALSE(unpack_patches(std::span(bytes).first(bytes.size() - 8), plan, modules).has_value());
  Plan fewer = plan;
  fewer.sites.resize(2);
  EXPECT_FALSE(unpack_patches(bytes, fewer, modules).has_value());
  fewer = plan;
  fewer.handlers.resize(1);
  EXPECT_FALSE(unpack_patches(bytes, fewer, modules).has_value());
  modules.resize(1);
  EXPECT_FALSE(unpack_patches(bytes, plan, modules).has_value());
}

TEST_F(Kept, AreRefusedWhereTheyEndInsideAnInstruction) {
  patches.sites[1].displaced = 5;
  EXPECT_TRUE(unpack_patches(pack_patches(patches, modules), plan, modules).has_value());
  patches.sites[1].displaced = 3;
  EXPECT_FALSE(unpack_patches(pack_patches(patches, modules), plan, modules).has_value());
}

TEST_F(Kept, AreRefusedWithAPlacementOfNoKind) {
  patches.sites[2].form->placements[0].tactic = static_cast<arch::Tactic>(7);
  EXPECT_FALSE(unpack_patches(pack_patches(patches, modules), plan, modules).has_value());
}

// Whatever the bytes are: they are refused, or every index leads to something that is there.
TEST_F(Kept, BytesThatAreChangedAtRandomDoNoHarm) {
  const std::string bytes = pack_patches(patches, modules);
  std::mt19937 luck(1);
  for (int i = 0; i < 100'000; i++) {
    std::string changed = bytes;
    for (uint32_t n = 0; n <= luck() % 3; n++) {
      changed[luck() % changed.size()] = static_cast<char>(luck() % 4 == 0 ? 0xff : luck());
    }
    const std::optional<PatchPlan> back = unpack_patches(changed, plan, modules);
    if (!back) continue;
    for (const PatchSite& site : back->sites) {
      ASSERT_LT(site.module, modules.size());
      if (site.state != SiteState::Skipped) {
        ASSERT_LE(site.displaced, site.original.size());
      }
    }
  }
}

TEST_F(Kept, ExitsThatLeaveOnlySometimesAreNot) {
  patches.sites[1].leaving = arch::Leaving{.how = arch::Leaving::IfTaken};
  EXPECT_EQ(pack_patches(patches, modules), "");
}

TEST_F(Kept, TheKeyTellsOptionsAndFiles) {
  modules[0].is_vdso = true;
  modules[1].path = modules[1].open_path = "/proc/self/exe";
  const auto key_of = [this](const std::string& plan_key, PatchOptions options = {},
                             TargetFacts facts = {}) {
    return patches_key(plan_key,
                       {.plan = plan, .modules = modules, .options = options, .facts = facts});
  };
  const std::string key = key_of("plan");
  EXPECT_NE(key, "");
  EXPECT_EQ(key_of(""), "");
  EXPECT_NE(key_of("another"), key);
  EXPECT_NE(key_of("plan", {.optimize = false}), key);
  EXPECT_NE(key_of("plan", {}, {.has_rseq = false}), key);
  EXPECT_NE(key_of("plan", {}, {.makes_system_calls = false}), key);
  EXPECT_EQ(key_of("plan", {.live = true}), key);
  EXPECT_NE(key_of("plan", {.live = true}, {.is_running = true}), key);
  EXPECT_EQ(key_of("plan", {}, {.no_int3 = "denied"}), "");
  modules[1].text.push_back({kBias, kBias + 0x1000});
  EXPECT_NE(key_of("plan"), key);
  modules[1].open_path = "/nothing/there";
  EXPECT_EQ(key_of("plan"), "");
}

}  // namespace
}  // namespace dj
