// SPDX-License-Identifier: Apache-2.0
// A fresh arena is the same wherever it lies: no word behind its Header holds an address of it.
#include "runtime/memory/arena_format.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>

#include "runtime/shared/capture.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"

namespace dj {
namespace {

Global global(const char* name, Type value, Storage storage, std::vector<Type> keys = {}) {
  Global made;
  made.name = name;
  made.value = value;
  made.storage = storage;
  made.keys = std::move(keys);
  return made;
}

// Globals of all kinds.
Program all_kinds() {
  Program program;
  Global last = global("last", Type::Str, Storage::Scalar);
  last.init = std::string("a text");
  program.globals.push_back(std::move(last));
  program.globals.push_back(global("n", Type::Int, Storage::Counter));
  program.globals.back().init = int64_t{7};
  program.globals.push_back(global("s", Type::Stat, Storage::Stats));
  program.globals.back().asked.hist_log = true;
  program.globals.push_back(global("by", Type::Int, Storage::Array, {Type::Str, Type::Int}));
  program.globals.push_back(global("sums", Type::Int, Storage::Array, {Type::Int}));
  program.globals.back().array.grows = program.globals.back().array.sums = true;
  program.globals.push_back(global("of", Type::Stat, Storage::Array, {Type::Str}));
  program.globals.back().asked.percentiles = true;
  return program;
}

// Two sites with names, and room for more: of calls, too.
Plan two_sites() {
  Plan plan;
  plan.modules.emplace_back().path = "/bin/program";
  for (const char* name : {"first", "second"}) {
    Site& site = plan.sites.emplace_back();
    site.function = name;
    site.address = 0x1000;
  }
  plan.host_probes.emplace_back().text = "begin";
  plan.handlers.emplace_back();
  plan.awaits_objects = true;
  return plan;
}

class Formatted {
 public:
  Formatted(const Program& program, const Plan& plan, uint64_t base, int sharing = MAP_PRIVATE) {
    Limits limits;
    limits.max_map_entries = 64;
    limits.string_bytes = 1 << 16;
    limits.ring_bytes = 1 << 14;
    layout = lay_out(program, plan, limits, 2, base, 4096);
    void* at = mmap(reinterpret_cast<void*>(base), layout.bytes, PROT_READ | PROT_WRITE,
                    sharing | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (at == reinterpret_cast<void*>(base)) {
      bytes = {static_cast<uint8_t*>(at), layout.bytes};
      made = format_arena(bytes, layout, program, plan, {}).ok();
    }
  }
  Formatted(const Formatted&) = delete;
  Formatted& operator=(const Formatted&) = delete;
  ~Formatted() {
    if (!bytes.empty()) munmap(bytes.data(), bytes.size());
  }

  Layout layout;
  std::span<uint8_t> bytes;
  bool made = false;
};

TEST(ArenaFormat, IsTheSameAtEachPlace) {
  const Program program = all_kinds();
  const Plan plan = two_sites();
  const Formatted here(program, plan, 0x40000000), there(program, plan, 0x51230000);
  ASSERT_TRUE(here.made && there.made);
  ASSERT_EQ(here.bytes.size(), there.bytes.size());
  ASSERT_EQ(here.layout.strings.constants - here.layout.base,
            there.layout.strings.constants - there.layout.base);
  size_t words = 0;
  for (size_t at = sizeof(abi::Header); at + 8 <= here.bytes.size(); at += 8) {
    uint64_t one, other;
    std::memcpy(&one, &here.bytes[at], sizeof one);
    std::memcpy(&other, &there.bytes[at], sizeof other);
    ASSERT_EQ(one, other) << "at offset " << std::hex << at;
    words += one != 0;
  }
  EXPECT_GT(words, 40u) << "texts, arrays, sites";
}

// The large parts, most of which nobody touches, stand behind what each process uses: one page
// table maps 2 MB.
TEST(ArenaFormat, OnePageTableMapsTheConstantsThatEachProcessUses) {
  Limits limits;
  limits.string_bytes = 64 << 20;
  const Layout layout = lay_out(all_kinds(), two_sites(), limits, 2, 0x40000000, 4096);
  const abi::Header& header = layout.header;
  constexpr uint64_t kPageTableBytes = 2 << 20;
  for (const uint64_t offset : {uint64_t{header.strings.offset}, uint64_t{header.sites.offset},
                                uint64_t{header.captures.offset}}) {
    EXPECT_GT(offset, 0u);
    EXPECT_LT(offset, kPageTableBytes);
  }
}

// A process that has the arena elsewhere reads it by the same Header. Nothing can be read at the
// first place meanwhile: a reader that followed an address to it would end this test.
TEST(ArenaFormat, IsReadThroughASecondMapping) {
  const Program program = all_kinds();
  const Plan plan = two_sites();
  const Formatted first(program, plan, 0x40000000, MAP_SHARED);
  ASSERT_TRUE(first.made);
  const size_t bytes = first.bytes.size();
  void* second = mremap(first.bytes.data(), 0, bytes, MREMAP_MAYMOVE);
  ASSERT_NE(second, MAP_FAILED);
  const abi::Arena arena{reinterpret_cast<uint64_t>(second), bytes};
  ASSERT_EQ(mprotect(first.bytes.data(), bytes, PROT_NONE), 0);
  const abi::Header& header = *static_cast<const abi::Header*>(second);
  const abi::SiteInfo& site = header.sites.get(arena)[1];
  const abi::Text module = abi::text_of(site.module.get(arena));
  EXPECT_EQ(std::string(module.data, module.len), "/bin/program");
  const abi::Strings& strings = *header.strings.get(arena);
  EXPECT_EQ(abi::text_of(strings.constants.first.get(arena)).len, 0u)
      << "the empty string is the first";
  EXPECT_EQ(header.words.get(arena)->error_count, 0u);
  EXPECT_EQ(header.counters.get(arena)[0], 7);
  EXPECT_EQ(abi::ring_of_row(&header, arena, 1)->head, 0u);
  EXPECT_EQ(header.captures.get(arena)->counting, 0u);
  munmap(second, bytes);
}

TEST(ArenaRef, KeepsToTheArena) {
  alignas(8) uint64_t memory[8] = {};
  const abi::Arena arena{reinterpret_cast<uint64_t>(memory), sizeof memory};
  EXPECT_EQ(abi::ArenaRef<uint64_t>{24}.get(arena), memory + 3);
  for (const uint32_t forged : {uint32_t{64}, uint32_t{65}, uint32_t{1} << 31, UINT32_MAX})
    EXPECT_EQ(abi::ArenaRef<uint64_t>{forged}.get(arena), memory) << forged;
}

}  // namespace
}  // namespace dj
