// SPDX-License-Identifier: Apache-2.0
// Plans of patches made from files on the disk: no process is looked at.
#include "runtime/patch/patch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/debuginfo/text.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A program without a C library: it makes its system calls itself. `narrow` is too short for a
// jump, and what stands behind it is the aim of a branch.
const char* const kSource = R"(
  __attribute__((noinline)) int twice(int x) { asm volatile("" : "+r"(x)); return x + x; }
  asm(".globl narrow\n.type narrow, @function\nnarrow: ret\n.size narrow, 1\n.balign 1\n"
      ".globl next\n.type next, @function\nnext: xor %eax, %eax\n1: dec %eax\njnz 1b\nret\n"
      ".size next, . - next");
  void _start(void) {
    volatile int sink = twice(21);
    asm volatile("syscall" : : "a"(56), "D"(0) : "rcx", "r11", "memory");  // clone
    asm volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");  // exit
  }
)";
const char* const kFlags = "-O1 -nostdlib -static -fcf-protection=none -fno-stack-protector";
constexpr uint64_t kCodeSpace = 0xffffffffc0000000, kCodeSpaceEnd = 0xffffffffff000000;

// FilePlan: a plan for one file as if it were mapped where it was linked.
struct FilePlan {
  explicit FilePlan(const std::string& path, std::optional<arch::Space> space = {})
      : codes([space](const std::string& file) {
          Result<arch::ModuleText> text = read_text(file);
          if (text.ok()) text.value().code_space = space;
          return text;
        }) {
    MappedModule module;
    module.path = module.open_path = path;
    module.is_executable_file = true;
    const arch::ModuleText text = read_text(path).take();
    module.begin = text.image_begin;
    module.end = text.image_end;
    for (const arch::TextRange& range : text.text)
      module.text.push_back({range.address, range.address + range.bytes.size()});
    modules.push_back(module);
    plan.modules.push_back({path, ""});
    plan.handlers.emplace_back();
  }
  void add(const std::string& name, SiteKind kind) {
    const ElfSymbol symbol = find_symbol(modules[0].open_path, name).take();
    Site site;
    site.kind = kind;
    site.address = site.function_begin = symbol.address;
    site.function_end = symbol.address + symbol.size;
    site.function = site.symbol = name;
    site.handlers = {0};
    plan.sites.push_back(site);
  }
  PatchPlan patches(const TargetFacts& facts = {}, const PatchOptions& options = {}) {
    return find_patches({.plan = plan, .modules = modules, .options = options, .facts = facts},
                        codes);
  }
  // The plan's place at that function's entry.
  static const PatchSite& at(const PatchPlan& patches, uint64_t address) {
    for (const PatchSite& site : patches.sites) {
      if (site.address == address) return site;
    }
    ADD_FAILURE() << "no place at " << address;
    static const PatchSite none;
    return none;
  }

  Plan plan;
  std::vector<MappedModule> modules;
  ModuleCodes codes;
};

TEST(PatchPlan, IsMadeFromAFile) {
  FilePlan file(compile_victim(kSource, kFlags));
  file.add("twice", SiteKind::Entry);
  file.add("twice", SiteKind::Return);
  const PatchPlan patches = file.patches();
  ASSERT_EQ(patches.sites.size(), 2u);
  EXPECT_TRUE(patches.sites[0].jump);
  EXPECT_TRUE(patches.no_int3.empty());
  EXPECT_FALSE(patches.hooks.empty());  // clone makes threads whose rseq area is not registered yet
  const std::string text = dump(patches, file.modules);
  EXPECT_THAT(text, HasSubstr("of twice+0x0 calls 0:body\n"));
  EXPECT_THAT(text, HasSubstr("calls 0:body at exit\n"));
  EXPECT_THAT(text, HasSubstr("hook "));
}

TEST(PatchPlan, HasFewerHooksWithoutRseq) {
  FilePlan file(compile_victim(kSource, kFlags));
  file.add("twice", SiteKind::Entry);
  EXPECT_LT(file.patches({.has_rseq = false}).hooks.size(), file.patches().hooks.size());
}

TEST(PatchPlan, SkipsWhatOnlyAnInt3CouldProbeWhereNoneCanBe) {
  FilePlan file(compile_victim(kSource, kFlags));
  file.add("twice", SiteKind::Entry);
  PatchPlan patches = file.patches({}, {.optimize = false});
  ASSERT_EQ(patches.sites.size(), 1u);
  EXPECT_EQ(patches.sites[0].state, SiteState::Registered);
  EXPECT_FALSE(patches.sites[0].jump);
  patches = file.patches({.no_int3 = "a filter denies it"}, {.optimize = false});
  EXPECT_EQ(patches.sites[0].state, SiteState::Skipped);
  EXPECT_THAT(patches.sites[0].reason.str(), HasSubstr("a filter denies it"));
  EXPECT_THAT(dump(patches, file.modules), HasSubstr("skipped (SIGTRAP (a filter denies it))"));
}

TEST(PatchPlan, WritesTextOfARunningTargetOnly) {
  FilePlan file(compile_victim(kSource, kFlags));
  file.add("twice", SiteKind::Entry);
  EXPECT_FALSE(file.patches({}, {.live = true}).live);
  EXPECT_TRUE(file.patches({.is_running = true}, {.live = true}).live);
}

// A kernel: it makes no system calls, has no rseq areas, and its detours lie in a region of their
// own behind its image.
TEST(PatchPlan, OfAKernelNeedsNoHook) {
  const std::string path = compile_victim(
      kSource, std::string(kFlags) + " -fno-pie -mcmodel=kernel -Wl,-Ttext=0xffffffff81000000");
  const arch::ModuleText text = read_text(path).take();
  // All between the image and that region is as good as inside of the image.
  const arch::Space space = {text.image_begin, text.image_begin, kCodeSpace, kCodeSpaceEnd};
  FilePlan file(path, space);
  for (const char* name : {"twice", "narrow", "next"}) file.add(name, SiteKind::Entry);
  file.add("twice", SiteKind::Return);
  EXPECT_FALSE(file.patches().hooks.empty());
  EXPECT_THAT(file.patches({.makes_system_calls = false}).hooks, IsEmpty());
  const PatchPlan patches = file.patches({.has_rseq = false, .makes_system_calls = false});
  EXPECT_THAT(patches.hooks, IsEmpty());
  ASSERT_EQ(patches.sites.size(), 4u);
  const PatchSite& twice = FilePlan::at(patches, file.plan.sites[0].address);
  EXPECT_TRUE(twice.jump);
  EXPECT_GE(twice.address, 0xffffffff81000000u);
  for (const PatchSite& site : patches.sites) {
    EXPECT_EQ(site.state, SiteState::Registered) << site.reason.str();
    if (!site.jump || !site.form) continue;
    const std::optional<uint64_t> stub = arch::reachable(site.form->placements.front(), space);
    ASSERT_TRUE(stub);
    EXPECT_GE(*stub, kCodeSpace);
    EXPECT_LT(*stub, kCodeSpaceEnd);
  }
}

}  // namespace
}  // namespace dj
