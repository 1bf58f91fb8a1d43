// SPDX-License-Identifier: Apache-2.0
// The engine without a process: plans from files, detours into vectors, text that is bytes. What
// stands in the text is read here by hand.
#include "runtime/target/fake/fake_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/debuginfo/text.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kCodeBytes = 256, kBias = 0x10000000, kDlopenedBias = 0x20000000;
constexpr uint64_t kKernelText = 0xffffffff81000000, kKernelCode = 0xffffffffc0000000,
                   kKernelEnd = 0xffffffffff000000;

const char* const kProgram = R"(
  __attribute__((noinline)) int twice(int x) { asm volatile("" : "+r"(x)); return 1000000 * x; }
  __attribute__((noinline)) int thrice(int x) { asm volatile("" : "+r"(x)); return 3000000 * x; }
  void _start(void) {
    volatile int sink = twice(21) + thrice(14);
    asm volatile("syscall" : : "a"(56), "D"(0) : "rcx", "r11", "memory");  // clone
    asm volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");  // exit
  }
)";
const char* const kLibrary = R"(
  __attribute__((noinline)) long plugin(long x) { asm volatile("" : "+r"(x)); return x - 1000000; }
)";
const char* const kFlags = "-O1 -nostdlib -static-pie -fcf-protection=none -fno-stack-protector";
const char* const kLibraryFlags = "-O1 -nostdlib -shared -fPIC -fcf-protection=none";

// Entries that only return.
Result<Linked> link_by_hand(uint64_t base, std::span<uint8_t> working, uint64_t) {
  Linked linked;
  for (const char* name :
       {"dj_handler_0", "dj_syscall_hook", "dj_child_hook", "dj_find_object", "dj_switched_off"}) {
    const uint64_t at = 16 * linked.symbols.size();
    linked.symbols[name] = base + at;
    working[at] = 0xc3;
  }
  linked.handlers = {linked.symbols["dj_handler_0"]};
  linked.bytes_used = kCodeBytes;
  return linked;
}

// Engine: what a session does with its target, for a plan that is written by hand.
struct Engine {
  explicit Engine(const TargetFacts& facts = {}, std::optional<arch::Space> space = {})
      : target(facts, space ? space->image_end : 0), codes([space](const std::string& path) {
          Result<arch::ModuleText> text = read_text(path);
          if (text.ok()) text.value().code_space = space;
          return text;
        }) {}

  void open(const std::string& path, uint64_t bias = kBias) {
    target.open(path, read_text(path).value(), bias);
    target.know(target.find_objects().value());
    target.answer_objects(*target.objects_event());
  }
  static Site site_of(const std::string& path, const std::string& name) {
    const ElfSymbol symbol = find_symbol(path, name).take();
    Site site;
    site.address = site.function_begin = symbol.address;
    site.function_end = symbol.address + symbol.size;
    site.function = site.symbol = name;
    site.handlers = {0};
    return site;
  }
  // A plan with one handler at the entries of these functions.
  static Plan plan_for(const std::string& path, const std::vector<std::string>& names) {
    Plan plan;
    plan.modules.push_back({path, ""});
    plan.handlers.emplace_back();
    for (const std::string& name : names) plan.sites.push_back(site_of(path, name));
    return plan;
  }
  // PatchPlan, Detours, arm(): of objects from number `first` on.
  Status probe(const Plan& plan, PatchOptions options = {}, size_t first = 0) {
    const std::vector<MappedModule> modules = target.objects();
    PatchPlan patches = plan_patches({.plan = plan,
                                      .modules = modules,
                                      .options = options,
                                      .facts = target.facts(),
                                      .first_module = first},
                                     codes);
    patches.names = SiteNames(plan);
    DetourPlan detours = plan_detours(std::move(patches),
                                      {.plan = plan,
                                       .abis = abis,
                                       .modules = modules,
                                       .first_module = first,
                                       .code_bytes = kCodeBytes,
                                       .switched = options.switched},
                                      codes.file_cache());
    DJ_TRY(CodeAreas areas, target.map(detours, layout));
    DJ_TRY(Detours built, build_detours(std::move(detours), std::move(areas), link_by_hand, &head));
    target.place(std::move(built), {});
    return target.arm();
  }
  uint8_t byte_at(uint64_t address) {
    uint8_t byte = 0;
    EXPECT_TRUE(target.memory().read(address, {&byte, 1}).ok());
    return byte;
  }
  // Where the jump in the text of this place leads, stubs followed; 0: there is no jump.
  uint64_t follow(const PatchSite& site) {
    const uint64_t at = site.form ? site.form->placement.jump : site.address;
    uint8_t jump[5] = {};
    EXPECT_TRUE(target.memory().read(at, jump).ok());
    const auto aim = [](uint64_t at, const uint8_t* bytes) {
      int32_t distance = 0;
      std::memcpy(&distance, bytes + 1, sizeof distance);
      return at + 5 + static_cast<uint64_t>(int64_t{distance});
    };
    if (jump[0] != 0xe9) return 0;
    const uint64_t to = aim(at, jump);
    if (!site.form) return to;
    return aim(to, target.latest().writer.areas().stub_view(to, 5).data());
  }

  FakeTarget target;
  ModuleCodes codes;
  Layout layout;
  std::vector<HandlerAbi> abis = std::vector<HandlerAbi>(1);
  uint64_t head = 0;  // of the notes
};

TEST(Engine, LeadsTheTextToDetoursAndBack) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const auto before = engine.target.memory().all();
  ASSERT_TRUE(engine.probe(Engine::plan_for(program, {"twice", "thrice"})).ok());
  EXPECT_NE(engine.head, 0u);
  for (const PatchSite& site : engine.target.latest().plan.patches.sites) {
    EXPECT_EQ(site.state, SiteState::Optimized);
    EXPECT_NE(site.detour, 0u);
    EXPECT_EQ(engine.follow(site), site.detour);
  }
  EXPECT_THAT(engine.target.dump_detours(), HasSubstr("1 code area\nmodule "));
  EXPECT_EQ(engine.target.report().armed, 2u);
  EXPECT_TRUE(engine.target.is_in_text());
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_FALSE(engine.target.is_in_text());
  EXPECT_EQ(engine.target.memory().all(), before);
  EXPECT_TRUE(engine.target.restore().ok());  // once more does nothing
}

// Every function that the C library has.
TEST(Engine, ProbesAWholeLibrary) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (access(libc.c_str(), R_OK) != 0) GTEST_SKIP() << "no " << libc;
  Engine engine;
  engine.open(libc);
  const auto before = engine.target.memory().all();
  Plan plan = Engine::plan_for(libc, {});
  const arch::ModuleText text = read_text(libc).take();
  for (const arch::FunctionRange& function : text.functions) {
    Site site;
    site.address = site.function_begin = function.begin;
    site.function_end = function.end;
    site.handlers = {0};
    plan.sites.push_back(site);
  }
  ASSERT_GT(plan.sites.size(), 2000u);
  ASSERT_TRUE(engine.probe(plan).ok());
  size_t jumps = 0;
  for (const PatchSite& site : engine.target.latest().plan.patches.sites) {
    if (site.state == SiteState::Skipped) continue;
    if (site.jump) {
      EXPECT_EQ(engine.follow(site), site.detour);
    } else {
      EXPECT_EQ(engine.byte_at(site.address), 0xcc);
    }
    jumps += site.jump;
  }
  EXPECT_GT(jumps, plan.sites.size() * 9 / 10);
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.target.memory().all(), before);
}

TEST(Engine, LeavesForeignBytesAlone) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const Plan plan = Engine::plan_for(program, {"twice", "thrice"});
  const uint64_t twice = plan.sites[0].address + kBias;
  const uint8_t foreign[] = {0xcc};
  ASSERT_TRUE(engine.target.memory().write(twice, foreign).ok());
  ASSERT_TRUE(engine.probe(plan).ok());
  const std::vector<InstalledSite> skipped = engine.target.skipped_sites();
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].reason, "text differs from the file");
  EXPECT_EQ(engine.byte_at(twice), 0xcc);
  EXPECT_EQ(engine.target.report().armed, 1u);
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.byte_at(twice), 0xcc);
}

TEST(Engine, LeavesItsOwnJumpWhereOtherBytesCameOverIt) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const Plan plan = Engine::plan_for(program, {"twice", "thrice"});
  const uint64_t thrice = plan.sites[1].address + kBias;
  ASSERT_TRUE(engine.probe(plan).ok());
  const uint8_t foreign[] = {0xeb, 0xfe};
  ASSERT_TRUE(engine.target.memory().write(thrice, foreign).ok());
  const Status restored = engine.target.restore();
  ASSERT_FALSE(restored.ok());
  EXPECT_THAT(restored.error().message, HasSubstr("was changed by somebody else"));
  EXPECT_EQ(engine.byte_at(thrice), 0xeb);
  EXPECT_EQ(engine.target.sites()[0].state, SiteState::Disarmed);
  EXPECT_EQ(engine.target.sites()[1].state, SiteState::Gone);
}

TEST(Engine, WritesAnInt3WhereNoJumpIsWanted) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const Plan plan = Engine::plan_for(program, {"twice"});
  ASSERT_TRUE(engine.probe(plan, {.optimize = false}).ok());
  EXPECT_EQ(engine.byte_at(plan.sites[0].address + kBias), 0xcc);
  EXPECT_EQ(engine.target.sites()[0].state, SiteState::Int3);
}

TEST(Engine, SkipsWhatATargetWithoutTrapsCannotCarry) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine({.no_int3 = "a filter denies it"});
  engine.open(program);
  const auto before = engine.target.memory().all();
  ASSERT_TRUE(engine.probe(Engine::plan_for(program, {"twice"}), {.optimize = false}).ok());
  EXPECT_FALSE(engine.target.can_be_hit());
  EXPECT_THAT(engine.target.skipped_sites()[0].reason, HasSubstr("a filter denies it"));
  // Hooks stand all the same: they are the session's.
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.target.memory().all(), before);
}

TEST(Engine, GivesTextBackWhereHandlersAreOffForAWhile) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const auto before = engine.target.memory().all();
  const Plan plan = Engine::plan_for(program, {"twice", "thrice"});
  ASSERT_TRUE(engine.probe(plan, {.switched = true}).ok());
  const PatchSite& twice = engine.target.latest().plan.patches.sites[0];
  ASSERT_EQ(twice.address, plan.sites[0].address + kBias);
  const uint8_t first = before.begin()->second[twice.address - before.begin()->first];
  const std::set<HandlerAt> its = {{0, 0}};
  ASSERT_TRUE(engine.target.switch_handlers(its, false, kOffByCommand).ok());
  ASSERT_TRUE(engine.target.switch_handlers(its, false, kOffByCondition).ok());
  engine.target.poll();
  EXPECT_EQ(engine.byte_at(twice.address), 0xe9);  // it may be switched on again at once
  engine.target.pass(400'000'000);
  engine.target.poll();
  EXPECT_EQ(engine.byte_at(twice.address), first);
  EXPECT_EQ(twice.state, SiteState::Disarmed);
  // Off as long as one of the two wants it so.
  ASSERT_TRUE(engine.target.switch_handlers(its, true, kOffByCommand).ok());
  EXPECT_EQ(engine.byte_at(twice.address), first);
  ASSERT_TRUE(engine.target.switch_handlers(its, true, kOffByCondition).ok());
  EXPECT_EQ(engine.follow(twice), twice.detour);
  EXPECT_EQ(engine.target.sites()[1].state, SiteState::Optimized);
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.target.memory().all(), before);
}

TEST(Engine, SwitchesACallByItsSlot) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  ASSERT_TRUE(engine.probe(Engine::plan_for(program, {"twice"}), {.switched = true}).ok());
  Detours& detours = engine.target.latest();
  const uint64_t slot = detours.plan.patches.sites[0].calls[0].slot;
  ASSERT_NE(slot, 0u);
  const auto leads_to = [&] {
    uint64_t address = 0;
    std::memcpy(&address, detours.writer.areas().view(slot, sizeof address).data(), sizeof address);
    return address;
  };
  EXPECT_EQ(leads_to(), detours.writer.symbol("dj_handler_0"));
  ASSERT_TRUE(engine.target.switch_handlers({{0, 0}}, false, kOffByCommand).ok());
  EXPECT_EQ(leads_to(), detours.writer.symbol("dj_switched_off"));
  ASSERT_TRUE(engine.target.switch_handlers({{0, 0}}, true, kOffByCommand).ok());
  EXPECT_EQ(leads_to(), detours.writer.symbol("dj_handler_0"));
}

TEST(Engine, ProbesAnObjectThatComesLaterAndForgetsOneThatGoes) {
  const std::string program = compile_victim(kProgram, kFlags);
  const std::string library = compile_victim(kLibrary, kLibraryFlags);
  Engine engine;
  engine.open(program);
  const auto before = engine.target.memory().all();
  ASSERT_TRUE(engine.probe(Engine::plan_for(program, {"twice"})).ok());
  EXPECT_FALSE(engine.target.objects_event());
  engine.target.open(library, read_text(library).value(), kDlopenedBias);
  ASSERT_TRUE(engine.target.objects_event());
  const DlopenedObjects dlopened = engine.target.find_objects().take();
  ASSERT_EQ(dlopened.modules.size(), 2u);
  ASSERT_EQ(dlopened.first_new, 1u);
  engine.target.know(dlopened);
  Plan plan = Engine::plan_for(library, {"plugin"});
  plan.first_site = 1;
  ASSERT_TRUE(engine.probe(plan, {}, dlopened.first_new).ok());
  ASSERT_EQ(engine.target.sites().size(), 2u);
  const PatchSite& plugin = engine.target.latest().plan.patches.sites[0];
  EXPECT_EQ(plugin.address, plan.sites[0].address + kDlopenedBias);
  EXPECT_EQ(engine.follow(plugin), plugin.detour);
  engine.target.close(library);
  const DlopenedObjects left = engine.target.find_objects().take();
  EXPECT_EQ(left.modules.size(), 1u);
  EXPECT_EQ(engine.target.latest_sites()[0].state, SiteState::Gone);
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.target.memory().all(), before);
}

// A kernel: no rseq areas, no hooks, and code in a region of its own behind the image.
TEST(Engine, ProbesAKernelsText) {
  const std::string flags =
      "-O1 -nostdlib -static -fcf-protection=none -fno-stack-protector "
      "-fno-pie -mcmodel=kernel -Wl,-Ttext=0xffffffff81000000";
  const std::string kernel = compile_victim(kProgram, flags);
  const uint64_t begin = read_text(kernel).value().image_begin;
  Engine engine({.has_rseq = false, .makes_system_calls = false},
                arch::Space{begin, begin, kKernelCode, kKernelEnd});
  engine.open(kernel, 0);
  const auto before = engine.target.memory().all();
  ASSERT_TRUE(engine.probe(Engine::plan_for(kernel, {"twice", "thrice"})).ok());
  EXPECT_THAT(engine.target.latest().plan.patches.hooks, IsEmpty());
  for (const PatchSite& site : engine.target.latest().plan.patches.sites) {
    EXPECT_GE(site.address, kKernelText);
    EXPECT_GE(site.detour, kKernelCode);
    EXPECT_LT(site.detour, kKernelEnd);
    EXPECT_EQ(engine.follow(site), site.detour);
  }
  ASSERT_TRUE(engine.target.restore().ok());
  EXPECT_EQ(engine.target.memory().all(), before);
}

TEST(Engine, LeavesNothingOfASetThatIsAbandoned) {
  const std::string program = compile_victim(kProgram, kFlags);
  Engine engine;
  engine.open(program);
  const auto before = engine.target.memory().all();
  const Plan plan = Engine::plan_for(program, {"twice"});
  ASSERT_TRUE(engine.probe(plan).ok());
  ASSERT_TRUE(engine.target.restore().ok());
  engine.target.abandon();
  EXPECT_EQ(engine.target.memory().all(), before);
  EXPECT_TRUE(engine.target.sites().empty());
}

}  // namespace
}  // namespace dj
