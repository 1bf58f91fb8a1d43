// SPDX-License-Identifier: Apache-2.0
// Patches are moved to where the modules of the next process lie, if these are the same.
#include "runtime/patch/kept_patches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/debuginfo/text.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

constexpr uint64_t kMoved = 0x7000000;

// This process, with a probe in libc.
struct KeptInMemory : testing::Test {
  KeptInMemory() : modules(mapped_modules(getpid()).value()) {
    for (const MappedModule& module : modules) {
      if (module.path.find("libc.so.6") == std::string::npos) continue;
      plan.modules.push_back({.path = module.path});
      const auto address = reinterpret_cast<uint64_t>(&::getppid) - module.bias;
      Site site;
      site.kind = SiteKind::Entry;
      site.address = site.function_begin = address;
      site.function_end = address + 8;
      site.function = "getppid";
      site.handlers = {0};
      plan.sites.push_back(site);
    }
    plan.handlers.resize(1);
  }
  PatchPlan find() { return kept.find({.plan = plan, .modules = modules, .facts = facts}, codes); }
  void move() {
    for (MappedModule& module : modules) {
      module.bias += kMoved, module.begin += kMoved, module.end += kMoved;
      for (std::vector<AddressRange>* ranges : {&module.text, &module.writable})
        for (AddressRange& range : *ranges) range = {range.begin + kMoved, range.end + kMoved};
    }
  }
  std::string print(const PatchPlan& patches) const { return dump(patches, modules); }
  Plan plan;
  std::vector<MappedModule> modules;
  TargetFacts facts;
  ModuleCodes codes{read_text};
  KeptPatches kept;
};

TEST_F(KeptInMemory, AreMovedWithTheirModules) {
  const PatchPlan first = find();
  const std::string as_first = print(first);
  move();
  const PatchPlan second = find();
  EXPECT_EQ(print(second), as_first);
  ASSERT_EQ(second.sites.size(), first.sites.size());
  ASSERT_FALSE(second.hooks.empty());
  for (size_t i = 0; i < first.sites.size(); ++i)
    EXPECT_EQ(second.sites[i].address, first.sites[i].address + kMoved);
  for (size_t i = 0; i < first.hooks.size(); ++i)
    EXPECT_EQ(second.hooks[i].address, first.hooks[i].address + kMoved);
}

TEST_F(KeptInMemory, AreFoundAnewForOtherFacts) {
  const PatchPlan first = find();
  facts.has_rseq = false;
  EXPECT_NE(find().hooks.size(), first.hooks.size());
}

// What another plan would give shows whether it was made: calls for one object have the same plan.
TEST_F(KeptInMemory, AreFoundAnewForAnotherFile) {
  const size_t sites = find().sites.size();
  EXPECT_GT(sites, 0u);
  plan.sites.clear();
  EXPECT_EQ(find().sites.size(), sites);
  for (MappedModule& module : modules) {
    if (module.version) module.version->changed_ns++;
  }
  EXPECT_EQ(find().sites.size(), 0u);
}

TEST_F(KeptInMemory, OfASiteMovesAllItsAddresses) {
  PatchSite site;
  site.address = 0x1000;
  site.form = std::make_shared<JumpForm>();
  site.form->region.address = 0x1000;
  site.form->region.probe_address = 0x1004;
  site.form->placements.resize(1);
  site.form->placements[0].jump = 0x1000;
  const std::shared_ptr<JumpForm> before = site.form;
  site.leaving = arch::Leaving{.how = arch::Leaving::IfOutside, .inside = {{0x900, 0x1100}}};
  move_place(site, kMoved);
  EXPECT_EQ(site.address, 0x1000 + kMoved);
  EXPECT_EQ(site.form->region.address, 0x1000 + kMoved);
  EXPECT_EQ(site.form->region.probe_address, 0x1004 + kMoved);
  EXPECT_EQ(site.form->placements[0].jump, 0x1000 + kMoved);
  EXPECT_EQ(site.leaving->inside[0].begin, 0x900 + kMoved);
  EXPECT_EQ(before->region.address, 0x1000u);  // of the plan that is kept
}

}  // namespace
}  // namespace dj
