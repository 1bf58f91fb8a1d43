// SPDX-License-Identifier: Apache-2.0
// Addresses for the arena, clusters and code areas. Pure arithmetic against brute force.
#include "runtime/memory/address_space.h"

#include <gtest/gtest.h>

#include "runtime/shared/abi.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

Mapping map(uint64_t begin, uint64_t end, const std::string& path = "") {
  Mapping m;
  m.begin = begin;
  m.end = end;
  m.path = path;
  return m;
}

TEST(AddressSpace, ArenaIsHighAndClearOfTheHeap) {
  std::vector<Mapping> target = {map(0x400000, 0x800000, "/bin/x"),
                                 map(0x900000, 0xa00000, "[heap]")};
  Result<uint64_t> base =
      choose_arena_base(target, {map(0x7ff00000, 0x80000000)}, 0x900000, 64 << 20);
  ASSERT_TRUE(base.ok());
  EXPECT_EQ(base.value(), 0x7ff00000u - (64 << 20));
  // A full lower 2 GB is an error, not a collision.
  EXPECT_FALSE(choose_arena_base({map(0x10000, 0x80000000)}, {}, 0, 4096).ok());
  // Wherever Linux begins the heap of a program with fixed addresses, the arena is at one place.
  target[1] = map(0x45000000, 0x45100000, "[heap]");
  EXPECT_EQ(choose_arena_base(target, {map(0x7ff00000, 0x80000000)}, 0x45000000, 64 << 20).value(),
            base.value());
  // Not enough room above the heap for its growth: still found.
  EXPECT_TRUE(
      choose_arena_base({map(0x60000000, 0x70000000, "[heap]")}, {}, 0x60000000, 64 << 20).ok());
}

// Without randomized addresses the stack ends where user space does, and libraries lie within 2 GB
// of that: stubs would be put between there and [vsyscall].
TEST(AddressSpace, NothingIsFreeBehindUserSpace) {
  constexpr uint64_t kUserEnd = 0x7ffffffff000;
  const Mapping libraries = map(0x7ffff7c00000, 0x7ffff7fff000);
  const Mapping vsyscall = map(0xffffffffff600000, 0xffffffffff601000, "[vsyscall]");
  const std::vector<Mapping> highest = {libraries, map(0x7ffffffde000, kUserEnd, "[stack]"),
                                        vsyscall};
  const std::vector<Mapping> lower = {libraries, map(0x7ffff8000000, 0x7ffff8021000, "[stack]"),
                                      vsyscall};
  EXPECT_EQ(free_ranges(highest, {}, 0).back().end, 0x7ffffffde000 - (64u << 20));
  EXPECT_EQ(free_ranges(lower, {}, 0).back().end, kUserEnd);
}

TEST(AddressSpace, ClustersAndAreasAreInReach) {
  const uint64_t bytes = 16 << 20;
  std::vector<AddressRange> modules = {{0x7f0000000000, 0x7f0000200000},
                                       {0x400000, 0x900000},
                                       {0x7f0010000000, 0x7f0010100000},
                                       {0x7f00f0000000, 0x7f00f0100000}};
  std::vector<Cluster> clusters = make_clusters(modules, bytes);
  ASSERT_EQ(clusters.size(), 3u);
  std::vector<Mapping> maps;
  for (const AddressRange& m : modules) {
    maps.push_back(map(m.begin, m.end));
  }
  std::vector<AddressRange> taken;
  for (const Cluster& cluster : clusters) {
    uint64_t base = choose_area_base(maps, taken, 0xa00000, cluster, bytes);
    ASSERT_NE(base, 0u);
    AddressRange area = {base, base + bytes};
    for (const AddressRange& other : taken) {
      EXPECT_TRUE(area.end <= other.begin || other.end <= area.begin);
    }
    for (const AddressRange& m : modules) {
      EXPECT_TRUE(area.end <= m.begin || m.end <= area.begin);
    }
    for (size_t i : cluster.members) {
      EXPECT_LT(std::max(area.end, modules[i].end) - std::min(area.begin, modules[i].begin),
                uint64_t{1} << 31);
    }
    taken.push_back(area);
  }
}

}  // namespace
}  // namespace dj
