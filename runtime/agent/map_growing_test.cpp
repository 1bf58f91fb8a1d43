// SPDX-License-Identifier: Apache-2.0
// Arrays that are never deleted from: words that are stored plainly, sums in the CPUs' rows and
// statistics without pins are exact with threads that are moved and interrupted, with forked
// children, and where there is no row.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "runtime/agent/arena_support.h"
#include "runtime/agent/map_find.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr uint32_t kAdd = 0, kSub = 1;

void move_in_signal(int) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((sched_getcpu() + 1) % sysconf(_SC_NPROCESSORS_ONLN), &set);
  sched_setaffinity(0, sizeof set, &set);
}

class Growing : public TestArena {
 protected:
  const abi::Map* make_sums(uint32_t capacity, uint32_t keys) {
    return make_map({capacity, keys, nullptr, false, true, header().cpus});
  }
  const abi::Map* make_words(uint32_t capacity, uint32_t keys) {
    return make_map({capacity, keys, nullptr, false, true, 0});
  }
  static void add(const abi::Map* map, uint64_t key, uint32_t op, int64_t n) {
    int64_t old;
    dj_map_update(map, &key, op, n, &old);
  }
  static std::map<uint64_t, int64_t> values(const abi::Map* map) {
    std::map<uint64_t, int64_t> found;
    abi::map_each(place(), map, [&](const abi::MapNode& node, const abi::Stat*) {
      auto value = static_cast<int64_t>(abi::map_value(place(), map, &node));
      EXPECT_TRUE(found.emplace(node.keys[0], value).second) << "a key stands twice";
    });
    return found;
  }
};

TEST_F(Growing, SumsOfThreadsThatAreMovedAreExact) {
  constexpr int kThreads = 2, kRounds = 6'000'000;
  constexpr uint64_t kKeys = 2;
  const abi::Map* map = make_sums(8, 1);
  signal(SIGUSR1, move_in_signal);
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        add(map, i % kKeys, i % 3 == 0 ? kSub : kAdd, i % 3 == 0 ? -1 : 1);
      }
      --running;
    });
  }
  while (running > 0) {
    for (std::thread& thread : threads) pthread_kill(thread.native_handle(), SIGUSR1);
    usleep(20);
  }
  for (std::thread& thread : threads) thread.join();
  signal(SIGUSR1, SIG_DFL);
  std::map<uint64_t, int64_t> found = values(map);
  EXPECT_EQ(found.size(), kKeys);
  for (auto [key, value] : found) {
    EXPECT_EQ(value, int64_t{kThreads} * kRounds / static_cast<int64_t>(kKeys)) << key;
    EXPECT_EQ(dj_map_get(map, &key), value);
  }
  EXPECT_GT(abi::load(abi::map_sum(place(), map, 0)), 0u) << "the rows are used";
}

TEST_F(Growing, SumsOfForkedChildrenAreExact) {
  constexpr int kChildren = 4, kRounds = 500'000;
  const abi::Map* map = make_sums(8, 1);
  for (int c = 0; c < kChildren; ++c) {
    if (fork() == 0) {
      for (uint64_t i = 0; i < kRounds; ++i) add(map, i % 5, kAdd, 1);
      _exit(0);
    }
  }
  int done = 0;
  while (done < kChildren) done += wait(nullptr) > 0;
  for (auto [key, value] : values(map)) EXPECT_EQ(value, kChildren * kRounds / 5) << key;
}

TEST_F(Growing, FullIsCountedAndTheRestGoesOn) {
  const abi::Map* map = make_sums(8, 1);
  for (uint64_t key = 0; key < 10; ++key) add(map, key, kAdd, 5);
  for (uint64_t key = 0; key < 10; ++key) add(map, key, kAdd, 5);
  EXPECT_EQ(words().skipped[abi::kSkipMapFull], 4u);
  std::map<uint64_t, int64_t> found = values(map);
  EXPECT_EQ(found.size(), 8u);
  for (auto [key, value] : found) EXPECT_EQ(value, 10) << key;
}

TEST_F(Growing, ForeachSeesTheSums) {
  const abi::Map* map = make_sums(16, 1);
  for (uint64_t key = 1; key <= 9; ++key) {
    for (uint64_t i = 0; i < key; ++i) add(map, key, kAdd, 10);
  }
  abi::Context* ctx = dj_enter(0);
  void* loop = begin_walk(ctx, map, {abi::kSortValue, 0, 1}, 3, nullptr, 0);
  uint64_t key;
  int64_t value;
  for (int64_t wanted = 9; wanted > 6; --wanted) {
    ASSERT_EQ(dj_foreach_next(loop, &key, &value), 1u);
    EXPECT_EQ(key, static_cast<uint64_t>(wanted));
    EXPECT_EQ(value, 10 * wanted);
  }
  EXPECT_EQ(dj_foreach_next(loop, &key, &value), 0u);
  dj_leave(ctx);
}

TEST_F(Growing, WordsBehaveAsStdMap) {
  const abi::Map* map = make_words(256, 2);
  std::map<std::pair<uint64_t, uint64_t>, int64_t> oracle;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    uint64_t keys[2] = {random() % 15, random() % 15};
    auto value = static_cast<int64_t>(random());
    int64_t old;
    auto known = oracle.find({keys[0], keys[1]});
    int64_t now = known == oracle.end() ? 0 : known->second;
    EXPECT_EQ(dj_map_has(map, keys), known != oracle.end());
    EXPECT_EQ(dj_map_get(map, keys), now);
    if (random() % 2 == 0) {
      dj_map_set(map, keys, value);
      oracle[{keys[0], keys[1]}] = value;
    } else if (random() % 2 == 0) {
      EXPECT_EQ(dj_map_update(map, keys, kAdd, 5, &old), now + 5);
      EXPECT_EQ(old, now);
      oracle[{keys[0], keys[1]}] = now + 5;
    }
  }
}

TEST_F(Growing, WordsFarDownAChainAreFound) {
  const abi::Map* map = make_words(64, 1);
  std::vector<uint64_t> keys;  // all in one chain, longer than handlers follow it themselves
  for (uint64_t key = 1; keys.size() < 40; ++key)
    if ((agent::hash_keys(&key, 1) & map->bucket_mask) == 3) keys.push_back(key);
  for (int64_t round = 1; round <= 2; ++round) {
    for (uint64_t key : keys) dj_map_set(map, &key, static_cast<int64_t>(key) * round);
    for (uint64_t key : keys) {
      EXPECT_EQ(dj_map_get(map, &key), static_cast<int64_t>(key) * round);
      EXPECT_EQ(dj_map_has(map, &key), 1);
    }
  }
  EXPECT_EQ(values(map).size(), keys.size());
}

// One thread sets the upper half, the others count in the lower one: nobody may be given a number
// that somebody else was given.
TEST_F(Growing, SetAndUpdateOfThreadsLoseNothing) {
  constexpr int64_t kRounds = 500'000;
  const abi::Map* map = make_words(8, 1);
  std::atomic<bool> done = false;
  std::vector<std::vector<int64_t>> given(2);
  std::vector<std::thread> threads;
  for (std::vector<int64_t>& mine : given) {
    threads.emplace_back([map, &mine] {
      uint64_t key = 1;
      int64_t old;
      for (int64_t i = 0; i < kRounds; ++i) {
        dj_map_update(map, &key, kAdd, 1, &old);
        mine.push_back(old);
      }
    });
  }
  std::thread setter([&] {
    uint64_t key = 1;
    for (int64_t i = 1; !done; ++i) dj_map_set(map, &key, i << 32);
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  setter.join();
  std::vector<int64_t> all = given[0];
  all.insert(all.end(), given[1].begin(), given[1].end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST_F(Growing, ASignalMaySetWhatItHasInterrupted) {
  static const abi::Map* map;
  static std::atomic<int64_t> from_signals;
  map = make_words(4096, 1);
  from_signals = 0;
  signal(SIGUSR1, [](int) {
    int64_t i = from_signals;
    auto other = static_cast<uint64_t>(i % 2000);
    dj_map_set(map, &other, -1);
    ++from_signals;
  });
  std::atomic<bool> done = false;
  std::thread setter([&] {
    for (int64_t i = 1; !done; ++i) {
      uint64_t key = static_cast<uint64_t>(i) % 2000;
      dj_map_set(map, &key, i);
      int64_t seen = dj_map_get(map, &key);
      EXPECT_TRUE(seen == i || seen == -1) << seen;
    }
  });
  while (from_signals < 20'000) pthread_kill(setter.native_handle(), SIGUSR1);
  done = true;
  setter.join();
  signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(values(map).size(), 2000u);  // fails where a key stands twice, too
}

TEST_F(Growing, StatisticsOfThreadsAreExact) {
  abi::StatShape shape = {sizeof(abi::Stat), 0, 0, abi::kStatGrows, 0, 0};
  const abi::Map* map = make_map({64, 2, &shape, false, true, 0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([=] {
      for (int64_t i = 1; i <= 200'000; ++i) {
        uint64_t keys[2] = {static_cast<uint64_t>(i % 8), static_cast<uint64_t>(i % 5)};
        dj_map_stat_add(map, keys, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t count = 0, sum = 0;
  uint32_t empty;
  for (uint64_t i = 0; i < 40; ++i) {
    uint64_t keys[2] = {i % 8, i % 5};
    count += dj_map_stat_read(map, keys, abi::kStatCount, &empty);
    sum += dj_map_stat_read(map, keys, abi::kStatSum, &empty);
  }
  EXPECT_EQ(count, 800'000);
  EXPECT_EQ(sum, 4 * (int64_t{200'000} * 200'001 / 2));
}

}  // namespace
}  // namespace dj
