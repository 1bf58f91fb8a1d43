// SPDX-License-Identifier: Apache-2.0
// The engine over a kernel that is bytes of a test: plans from files, detours, the module's
// answers.
#include "runtime/kernel/kernel_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/debuginfo/text.h"
#include "runtime/kernel/fake_kernel.h"
#include "runtime/memory/arena_format.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

using testing::HasSubstr;

const char* const kKernel = R"(
  __attribute__((noinline)) int twice(int x) { asm volatile("" : "+r"(x)); return 1000000 * x; }
  __attribute__((noinline)) int thrice(int x) { asm volatile("" : "+r"(x)); return 3000000 * x; }
  void _start(void) { volatile int sink = twice(21) + thrice(14); for (;;) (void)sink; }
)";
const char* const kFlags =
    "-O1 -nostdlib -static -fcf-protection=none -fno-stack-protector "
    "-fno-pie -mcmodel=kernel -Wl,-Ttext=0xffffffff81000000";
constexpr uint64_t kCodeEnd = 0xffffffffff000000;
constexpr uint64_t kCounter = 3;

// Engine: what a session does with a kernel, for a plan that is written by hand.
struct Engine {
  Engine()
      : path(compile_victim(kKernel, kFlags)),
        text(read_text(path).value(), 0),
        before(text.ranges),
        codes([](const std::string& path) {
          Result<arch::ModuleText> read = read_text(path);
          if (read.ok()) {
            arch::ModuleText& text = read.value();
            text.code_space =
                arch::Space{text.image_begin, text.image_begin, FakeKernel::kCode, kCodeEnd};
          }
          return read;
        }) {
    layout.base = uint64_t{1} << 40;
    layout.bytes = 1 << 20;
    layout.header.arena_base = layout.base;
    layout.header.arena_bytes = layout.bytes;
    layout.header.counters.offset = 4096;
    abis[0].count_word = layout.thread_words() + kCounter * 8;
    abis[0].count_add = 1;
    auto fake = std::make_unique<FakeKernel>(text);
    kernel = fake.get();
    const arch::ModuleText read = read_text(path).value();
    MappedModule module;
    module.path = module.open_path = path;
    module.begin = read.image_begin;
    module.end = read.image_end;
    for (const arch::TextRange& range : read.text)
      module.text.push_back({range.address, range.address + range.bytes.size()});
    target = std::make_unique<KernelTarget>(std::move(fake), std::vector{module});
  }

  uint64_t address_of(const std::string& name) const {
    return find_symbol(path, name).take().address;
  }
  Plan plan_for(const std::vector<std::string>& names) const {
    Plan plan;
    plan.modules.push_back({path, ""});
    plan.handlers.emplace_back();
    for (const std::string& name : names) {
      const ElfSymbol symbol = find_symbol(path, name).take();
      Site site;
      site.address = site.function_begin = symbol.address;
      site.function_end = symbol.address + symbol.size;
      site.function = site.symbol = name;
      site.handlers = {0};
      plan.sites.push_back(site);
    }
    return plan;
  }
  Status probe(const Plan& plan, PatchOptions options = {}) {
    PatchPlan patches = plan_patches(
        {.plan = plan, .modules = target->objects(), .options = options, .facts = target->facts()},
        codes);
    patches.names = SiteNames(plan);
    DetourPlan detours =
        plan_detours(std::move(patches),
                     {.plan = plan, .abis = abis, .modules = target->objects(), .code_bytes = 4096},
                     codes.file_cache());
    DJ_TRY(CodeAreas areas, target->map(detours, layout));
    const LinkCode nothing = [](uint64_t, std::span<uint8_t>, uint64_t) {
      return Result<Linked>(Linked());
    };
    DJ_TRY(Detours built, build_detours(std::move(detours), std::move(areas), nothing, &head));
    target->place(std::move(built), layout.header);
    return target->arm();
  }
  uint64_t counted() const {
    return *reinterpret_cast<const uint64_t*>(layout.base + 4096 + kCounter * 8);
  }
  // Where the jump at this address leads.
  uint64_t follow(uint64_t address) {
    EXPECT_EQ(*text.at(address), 0xe9);
    int32_t distance = 0;
    std::memcpy(&distance, text.at(address + 1), sizeof distance);
    return address + 5 + static_cast<uint64_t>(int64_t{distance});
  }

  std::string path;
  FakeText text;
  std::map<uint64_t, std::vector<uint8_t>> before;
  ModuleCodes codes;
  Layout layout;
  std::vector<HandlerAbi> abis = std::vector<HandlerAbi>(1);
  uint64_t head = 0;
  FakeKernel* kernel = nullptr;
  std::unique_ptr<KernelTarget> target;
};

TEST(KernelTarget, LeadsTheTextToDetoursAndBack) {
  Engine engine;
  ASSERT_TRUE(engine.probe(engine.plan_for({"twice", "thrice"})).ok());
  EXPECT_TRUE(engine.kernel->sealed);
  for (const char* name : {"twice", "thrice"}) {
    const uint64_t detour = engine.follow(engine.address_of(name));
    // incq %gs:word
    const std::vector<uint8_t> count = {0x65, 0x48, 0xff, 0x04, 0x25, 0x28, 0x50, 0x03, 0x00};
    const auto at = engine.kernel->code.begin() + static_cast<long>(detour - FakeKernel::kCode);
    EXPECT_NE(std::search(at, at + 16, count.begin(), count.end()), at + 16);
  }
  EXPECT_TRUE(engine.target->is_in_text());
  EXPECT_EQ(engine.target->report().armed, 2u);
  engine.kernel->words[kCounter] = 42;
  engine.target->poll();
  EXPECT_EQ(engine.counted(), 42u);
  engine.kernel->words[kCounter] = 43;
  ASSERT_TRUE(engine.target->restore().ok());
  EXPECT_EQ(engine.counted(), 43u);
  EXPECT_FALSE(engine.target->is_in_text());
  EXPECT_EQ(engine.text.ranges, engine.before);
  EXPECT_EQ(engine.target->sites()[0].state, SiteState::Disarmed);
  EXPECT_TRUE(engine.target->restore().ok());  // once more does nothing
}

TEST(KernelTarget, WritesAnInt3WhereNoJumpIsWanted) {
  Engine engine;
  ASSERT_TRUE(engine.probe(engine.plan_for({"twice"}), {.optimize = false}).ok());
  EXPECT_EQ(*engine.text.at(engine.address_of("twice")), 0xcc);
  EXPECT_EQ(engine.target->sites()[0].state, SiteState::Int3);
  ASSERT_TRUE(engine.target->restore().ok());
  EXPECT_EQ(engine.text.ranges, engine.before);
}

TEST(KernelTarget, TellsWhatTheModuleRefuses) {
  Engine engine;
  engine.kernel->forbidden = engine.address_of("twice");
  engine.text.fixed = {{engine.address_of("thrice") + 2, engine.address_of("thrice") + 4}};
  ASSERT_TRUE(engine.probe(engine.plan_for({"twice", "thrice"})).ok());
  EXPECT_FALSE(engine.target->can_be_hit());
  const std::vector<InstalledSite> skipped = engine.target->skipped_sites();
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_THAT(skipped[0].reason, HasSubstr("kprobes blacklist"));
  EXPECT_THAT(skipped[1].reason, HasSubstr("by its address"));
  EXPECT_EQ(engine.text.ranges, engine.before);
}

TEST(KernelTarget, LeavesBytesOfOthersAlone) {
  Engine engine;
  *engine.text.at(engine.address_of("twice")) = 0xcc;
  ASSERT_TRUE(engine.probe(engine.plan_for({"twice", "thrice"})).ok());
  EXPECT_THAT(engine.target->skipped_sites()[0].reason, HasSubstr("another tool"));
  *engine.text.at(engine.address_of("thrice")) = 0xcc;
  const Status restored = engine.target->restore();
  ASSERT_FALSE(restored.ok());
  EXPECT_THAT(restored.error().message, HasSubstr("at 1 of the kernel's places another tool"));
  EXPECT_EQ(*engine.text.at(engine.address_of("thrice")), 0xcc);
}

TEST(KernelTarget, RefusesHandlersThatDoMoreThanCount) {
  Engine engine;
  engine.abis[0].count_word = 0;
  const Status probed = engine.probe(engine.plan_for({"twice"}));
  ASSERT_FALSE(probed.ok());
  EXPECT_THAT(probed.error().message, HasSubstr("do more than count"));
  EXPECT_EQ(probed.error().kind, Fail::Unsupported);
}

TEST(KernelTarget, RefusesMoreCountersThanTheModuleHas) {
  Engine engine;
  engine.abis[0].count_word = engine.layout.thread_words() + uint64_t{8} * DJTAP_COUNTERS;
  const Status probed = engine.probe(engine.plan_for({"twice"}));
  ASSERT_FALSE(probed.ok());
  EXPECT_THAT(probed.error().message, HasSubstr("has 256 counters"));
}

}  // namespace
}  // namespace dj
