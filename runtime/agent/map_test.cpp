// SPDX-License-Identifier: Apache-2.0
// Arrays: against std::map, exact with threads that update and delete, and usable after processes
// died inside.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr uint32_t kAdd = 0;

class Maps : public TestArena {
 protected:
  static int64_t add(const abi::Map* map, uint64_t key, int64_t n) {
    int64_t old;
    return dj_map_update(map, &key, kAdd, n, &old);
  }
  static size_t size(const abi::Map* map) {
    size_t n = 0;
    abi::map_each(place(), map, [&](const abi::MapNode&, const abi::Stat*) { ++n; });
    return n;
  }
  // Every node is in use or free: the whole capacity can be filled again.
  void expect_no_node_lost(const abi::Map* map, uint32_t may_be_lost = 0) {
    dj_map_clear(map);
    EXPECT_EQ(size(map), 0u);
    uint64_t full = words().skipped[abi::kSkipMapFull];
    for (uint64_t key = 1'000'000; key < 1'000'000 + map->capacity; ++key) {
      if (map->shape.bytes) {
        dj_map_stat_add(map, &key, 1);
      } else {
        dj_map_set(map, &key, 1);
      }
    }
    EXPECT_LE(words().skipped[abi::kSkipMapFull] - full, may_be_lost);
    EXPECT_GE(size(map) + may_be_lost, map->capacity);
    dj_map_clear(map);
  }
};

TEST_F(Maps, BehaveAsStdMap) {
  const abi::Map* map = make_map(256, 2);
  std::map<std::pair<uint64_t, uint64_t>, int64_t> oracle;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    uint64_t keys[2] = {random() % 15, random() % 15};
    int64_t value = static_cast<int64_t>(random()), old = -1;
    auto& slot = oracle[{keys[0], keys[1]}];
    switch (random() % 4) {
      case 0:
        dj_map_set(map, keys, slot = value);
        break;
      case 1:
        EXPECT_EQ(dj_map_update(map, keys, kAdd, 5, &old), slot + 5);
        EXPECT_EQ(old, slot);
        slot += 5;
        break;
      case 2:
        dj_map_delete(map, keys);
        oracle.erase({keys[0], keys[1]});
        EXPECT_EQ(dj_map_has(map, keys), 0);
        break;
      default:
        EXPECT_EQ(dj_map_get(map, keys), slot);
        if (dj_map_has(map, keys) == 0) oracle.erase({keys[0], keys[1]});
    }
  }
  EXPECT_EQ(size(map), oracle.size());
  abi::map_each(place(), map, [&](const abi::MapNode& node, const abi::Stat*) {
    auto found = oracle.find({node.keys[0], node.keys[1]});
    ASSERT_NE(found, oracle.end());
    EXPECT_EQ(static_cast<int64_t>(node.pair.first), found->second);
  });
}

TEST_F(Maps, OperatorsOfTheLanguage) {
  const abi::Map* map = make_map(8, 1);
  uint64_t key = 1;
  int64_t old;
  dj_map_set(map, &key, -7);
  EXPECT_EQ(dj_map_update(map, &key, 3, 2, &old), -3);
  EXPECT_EQ(dj_map_update(map, &key, 4, 2, &old), -1);
  EXPECT_EQ(dj_map_update(map, &key, 7, 60, &old), 15);
  EXPECT_EQ(dj_map_update(map, &key, 5, 2, &old), 60);
  EXPECT_EQ(dj_map_update(map, &key, 10, 63, &old), 3);
  EXPECT_EQ(old, 60);
}

TEST_F(Maps, FullIsCountedAndChangesNothing) {
  const abi::Map* map = make_map(4, 1);
  for (uint64_t key = 0; key < 6; ++key) dj_map_set(map, &key, static_cast<int64_t>(key));
  EXPECT_EQ(words().skipped[abi::kSkipMapFull], 2u);
  EXPECT_EQ(size(map), 4u);
  uint64_t key = 3;
  EXPECT_EQ(dj_map_get(map, &key), 3);
  dj_map_delete(map, &key);
  key = 9;
  dj_map_set(map, &key, 1);
  EXPECT_EQ(dj_map_has(map, &key), 1);
}

TEST_F(Maps, UpdatesOfThreadsAreExact) {
  const abi::Map* map = make_map(64, 1);
  constexpr int kThreads = 4, kRounds = 400'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      for (int i = 0; i < kRounds; ++i) add(map, static_cast<uint64_t>(i % 37), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t sum = 0;
  std::set<uint64_t> keys;
  abi::map_each(place(), map, [&](const abi::MapNode& node, const abi::Stat*) {
    sum += static_cast<int64_t>(node.pair.first);
    EXPECT_TRUE(keys.insert(node.keys[0]).second) << "a key stands twice";
  });
  EXPECT_EQ(sum, int64_t{kThreads} * kRounds);
  EXPECT_EQ(keys.size(), 37u);
}

// Each life of an element hands out 1, 2, 3 .. once. So over all lives nobody may get v + 1 more
// often than v: a lost update or one that lands in another key's element breaks that.
TEST_F(Maps, UpdatesAndDeletesOfThreadsAreExact) {
  const abi::Map* map = make_map(6, 1);
  constexpr int kThreads = 4, kRounds = 300'000;
  constexpr uint64_t kKeys = 5;
  std::vector<std::map<int64_t, int64_t>> given(kThreads * kKeys);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < kRounds; ++i) {
        uint64_t key = random() % kKeys;
        if (random() % 8 == 0) {
          dj_map_delete(map, &key);
        } else {
          given[static_cast<size_t>(t) * kKeys + key][add(map, key, 1)]++;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t key = 0; key < kKeys; ++key) {
    std::map<int64_t, int64_t> counts;
    for (int t = 0; t < kThreads; ++t) {
      for (auto [value, times] : given[static_cast<size_t>(t) * kKeys + key])
        counts[value] += times;
    }
    int64_t before = counts[1], position = 1;
    for (auto [value, times] : counts) {
      EXPECT_EQ(value, position++) << "key " << key;
      EXPECT_LE(times, before) << "key " << key << " value " << value;
      before = times;
    }
  }
  // A node on its way between chain and free list may have been missing for an insertion, never for
  // good.
  expect_no_node_lost(map);
}

// A value says whose it is: one of another key was read from a node that had been used again.
TEST_F(Maps, ReadersSeeOnlyTheirOwnElements) {
  const abi::Map* map = make_map(3, 1);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      while (!done) {
        uint64_t key = 1 + random() % 6;
        dj_map_set(map, &key, static_cast<int64_t>(key << 32 | random()));
        key = 1 + random() % 6;
        dj_map_delete(map, &key);
      }
    });
  }
  uint64_t there = 0;
  for (uint64_t i = 0; i < 3'000'000; ++i) {
    uint64_t key = 1 + i % 6;
    int64_t value = dj_map_get(map, &key);
    if (value == 0) continue;
    ++there;
    ASSERT_EQ(static_cast<uint64_t>(value) >> 32, key);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(there, 0u);
}

TEST_F(Maps, StatisticsOfThreadsAreExact) {
  abi::StatShape shape = {sizeof(abi::Stat), 0, 0, 0, 0, 0};
  const abi::Map* map = make_map(8, 1, &shape);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([=] {
      for (int i = 1; i <= 100'000; ++i) {
        uint64_t key = static_cast<uint64_t>(i % 3);
        dj_map_stat_add(map, &key, i);
        key = 7;  // comes and goes
        dj_map_stat_add(map, &key, 1);
        if (i % 4 == t) dj_map_delete(map, &key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t count = 0, sum = 0;
  uint32_t empty;
  for (uint64_t key = 0; key < 3; ++key) {
    count += dj_map_stat_read(map, &key, abi::kStatCount, &empty);
    sum += dj_map_stat_read(map, &key, abi::kStatSum, &empty);
  }
  EXPECT_EQ(count, 400'000);
  EXPECT_EQ(sum, 4 * (int64_t{100'000} * 100'001 / 2));
  uint64_t key = 2;
  EXPECT_EQ(dj_map_stat_read(map, &key, abi::kStatMin, &empty), 2);
  EXPECT_EQ(dj_map_stat_read(map, &key, abi::kStatMax, &empty), 99'998);
  key = 99;
  dj_map_stat_read(map, &key, abi::kStatAvg, &empty);
  EXPECT_EQ(empty, 1u);
  expect_no_node_lost(map);
}

TEST_F(Maps, SurviveProcessesKilledInside) {
  constexpr uint32_t kKills = 60;
  const abi::Map* map = make_map(200, 1);
  for (uint32_t round = 0; round < kKills; ++round) {
    pid_t child = fork();
    if (child == 0) {
      for (uint64_t i = 0;; ++i) {
        uint64_t key = i % 11;
        add(map, key, 1);
        if (i % 3 == 0) dj_map_delete(map, &key);
      }
    }
    usleep(2000 + round * 37 % 500);
    for (int i = 0; i < 1000; ++i) add(map, 5, 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    uint64_t key = 1000 + round;
    dj_map_set(map, &key, 42);
    EXPECT_EQ(dj_map_get(map, &key), 42);
  }
  EXPECT_EQ(words().skipped[abi::kSkipMapBusy], 0u);
  expect_no_node_lost(map, kKills);
}

TEST_F(Maps, ForeachSortsAndLimits) {
  const abi::Map* map = make_map(100, 2);
  for (uint64_t i = 0; i < 50; ++i) {
    const abi::Str* name = dj_intern(str("k" + std::to_string(i * 7 % 50)));
    uint64_t keys[2] = {i * 7 % 50, abi::ref_to(&header(), name)};
    dj_map_set(map, keys, static_cast<int64_t>(i) - 25);
  }
  abi::Context* ctx = dj_enter(0);
  ASSERT_NE(ctx, nullptr);
  uint64_t keys[2];
  int64_t value, before = INT64_MAX;
  void* by_value = begin_walk(ctx, map, {abi::kSortValue, 0, 1}, 10, nullptr, 0);
  uint32_t seen = 0;
  for (; dj_foreach_next(by_value, keys, &value); ++seen) {
    EXPECT_LT(value, before);
    before = value;
  }
  EXPECT_EQ(seen, 10u);
  EXPECT_EQ(value, 15);
  std::string last;
  void* by_text = begin_walk(ctx, map, {abi::kSortKey | abi::kSortText, 1, 0}, -1, nullptr, 0);
  for (seen = 0; dj_foreach_next(by_text, keys, &value); ++seen) {
    std::string now = text(abi::str_at(&header(), keys[1]));
    EXPECT_LT(last, now);
    last = now;
    uint64_t gone[2] = {(keys[0] + 1) % 50, 0};
    void* inner = begin_walk(ctx, map, {abi::kSortNone, 0, 0}, 1, nullptr,
                             0);  // left without its end, 50 times
    EXPECT_EQ(dj_foreach_next(inner, gone, &value), 1u);
  }
  EXPECT_EQ(seen, 50u);
  EXPECT_EQ(ctx->raised, 0u);
  EXPECT_EQ(ctx->iterators, ctx->scratch_bytes);
  dj_leave(ctx);
}

TEST_F(Maps, ForeachPassesOverWhatIsGone) {
  const abi::Map* map = make_map(16, 1);
  for (uint64_t key = 0; key < 10; ++key) dj_map_set(map, &key, 1);
  abi::Context* ctx = dj_enter(0);
  void* all = begin_walk(ctx, map, {abi::kSortKey, 0, 0}, -1, nullptr, 0);
  for (uint64_t key = 5; key < 10; ++key) dj_map_delete(map, &key);
  uint64_t key = 77;
  dj_map_set(map, &key, 1);  // in the node of a deleted one
  int64_t value;
  uint32_t seen = 0;
  for (; dj_foreach_next(all, &key, &value); ++seen) EXPECT_EQ(key, seen);
  EXPECT_EQ(seen, 5u);
  dj_leave(ctx);
}

TEST_F(Maps, ForeachWithoutRoomRaises) {
  const abi::Map* map = make_map(2000, 1);
  for (uint64_t key = 0; key < 2000; ++key) dj_map_set(map, &key, 1);
  abi::Context* ctx = dj_enter(0);
  EXPECT_EQ(begin_walk(ctx, map, {abi::kSortNone, 0, 0}, -1, nullptr, 0), nullptr);
  EXPECT_EQ(ctx->raised, 1u);
  EXPECT_EQ(words().error_count, 1u);
  dj_leave(ctx);
}

// Another process may have the arena elsewhere. Here nothing lies at the first place meanwhile: who
// followed an address to it would end this test.
TEST_F(Maps, AreReadWhereverTheArenaLies) {
  const abi::Map* map = make_map(64, 1);
  const abi::Map* sums = make_map({64, 1, nullptr, false, true, header().cpus});
  for (uint64_t key = 0; key < 50; ++key) {
    dj_map_set(map, &key, static_cast<int64_t>(3 * key));
    add(sums, key, static_cast<int64_t>(key));
  }
  void* here = reinterpret_cast<void*>(dj_arena_base);
  void* there = mremap(here, 0, kBytes, MREMAP_MAYMOVE);  // a second mapping of the same memory
  ASSERT_NE(there, MAP_FAILED);
  const abi::Arena arena{reinterpret_cast<uint64_t>(there), kBytes};
  std::map<uint64_t, uint64_t> seen, added;
  ASSERT_EQ(mprotect(here, kBytes, PROT_NONE), 0);
  for (const auto& [at, values] : {std::pair{map, &seen}, {sums, &added}}) {
    const auto* moved = reinterpret_cast<const abi::Map*>(reinterpret_cast<uint64_t>(at) -
                                                          dj_arena_base + arena.base);
    abi::map_each(arena, moved, [&](const abi::MapNode& node, const abi::Stat*) {
      (*values)[node.keys[0]] = abi::map_value(arena, moved, &node);
    });
  }
  ASSERT_EQ(mprotect(here, kBytes, PROT_READ | PROT_WRITE), 0);
  munmap(there, kBytes);
  ASSERT_EQ(seen.size(), 50u);
  ASSERT_EQ(added.size(), 50u);
  for (uint64_t key = 0; key < 50; ++key) {
    EXPECT_EQ(seen[key], 3 * key);
    EXPECT_EQ(added[key], key);
  }
}

}  // namespace
}  // namespace dj
