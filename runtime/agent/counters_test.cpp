// SPDX-License-Identifier: Apache-2.0
// Counters and scalar statistics are exact under preemption, signals, unregistered threads and
// forked children.
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <thread>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/stat.h"

// The test's stand-ins for what the lowerer defines.
extern "C" {
const uint64_t dj_arena_base = 0x50000000;
const uint32_t dj_has_rseq = 1;
// Tests have room on their stacks.
void dj_find_room() { abort(); }
}

namespace dj {
namespace {

volatile uint64_t signals;

void count_in_signal(int) {
  dj_count_add(1, 1);
  __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

class Counters : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    signals = 0;
    signal(SIGALRM, count_in_signal);
    itimerval often = {{0, 150}, {0, 150}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  void TearDown() override {
    itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    signal(SIGALRM, SIG_DFL);
    TestArena::TearDown();
  }
};

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

TEST_F(Counters, ExactWithThreadsThatPreemptEachOtherAndMove) {
  constexpr int kThreads = 4, kAdds = 10'000'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kAdds; ++i) {
        if (i % 100'000 == 0) pin((t + i / 100'000) % 2);
        dj_count_add(0, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(dj_count_read(0), int64_t{kThreads} * kAdds);
  EXPECT_EQ(dj_count_read(1), static_cast<int64_t>(signals));
  EXPECT_GT(signals, 100u);
}

// Moves the thread to the other CPU wherever it stands: also between reading its CPU and adding.
void move_in_signal(int) {
  static int turn;
  pin(__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % 2);
}

TEST_F(Counters, ExactWithThreadsMovedInsideTheSequence) {
  if (header().cpus < 2) GTEST_SKIP() << "one CPU: nobody to collide with";
  constexpr int kThreads = 2, kAdds = 100'000'000;
  signal(SIGUSR1, move_in_signal);
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kAdds; ++i) dj_count_add(4, 1);
      --running;
    });
  }
  while (running > 0) {
    for (std::thread& thread : threads) pthread_kill(thread.native_handle(), SIGUSR1);
    usleep(20);
  }
  for (std::thread& thread : threads) thread.join();
  signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(dj_count_read(4), int64_t{kThreads} * kAdds);
}

TEST_F(Counters, ExactWithForkedChildren) {
  constexpr int kChildren = 4, kAdds = 2'000'000;
  for (int c = 0; c < kChildren; ++c) {
    if (fork() == 0) {
      for (int i = 0; i < kAdds; ++i) dj_count_add(2, 3);
      _exit(0);
    }
  }
  int done = 0;
  while (done < kChildren) done += wait(nullptr) > 0;
  EXPECT_EQ(dj_count_read(2), int64_t{3} * kChildren * kAdds);
}

TEST_F(Counters, ClearForgetsAndCountsOn) {
  for (int i = 0; i < 1000; ++i) dj_count_add(3, i);
  dj_count_clear(3);
  EXPECT_EQ(dj_count_read(3), 0);
  dj_count_add(3, -5);
  EXPECT_EQ(dj_count_read(3), -5);
}

struct Rows {
  abi::Stat* first;
  uint32_t stride;
};

class Statistics : public Counters {
 protected:
  // Threads add each number from -1000 to 1000 four times, interrupted and moved.
  Rows expect_exact(abi::StatShape& shape) {
    shape.has_log = 1;
    shape.linear_count = 13;  // 0 10 .. 100, below, above
    shape.linear_step = 10;
    shape.bytes = sizeof(abi::Stat) + sizeof(int64_t) * (abi::kLogBuckets + shape.linear_count);
    const uint32_t stride = std::bit_ceil(shape.bytes), all = header().cpus + 1;
    auto* rows = reinterpret_cast<abi::Stat*>(take(uint64_t{stride} * all));
    uint32_t empty;
    EXPECT_EQ(dj_stat_read(rows, stride, abi::kStatMax, &empty), 0);
    EXPECT_EQ(empty, 1u);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([=, &shape] {
        for (int turn = 0; turn < kTurns; ++turn) {
          for (int i = -1000; i <= 1000; ++i) dj_stat_add(rows, stride, &shape, i);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    abi::StatTotal total = abi::stat_total(rows, stride, all);
    EXPECT_EQ(total.count, 4 * kTurns * 2001);
    EXPECT_EQ(total.sum, 0);
    EXPECT_EQ(total.min, -1000);
    EXPECT_EQ(total.max, 1000);
    int64_t log = 0, below = 0, above = 0;
    for (uint32_t row = 0; row < all; ++row) {
      const abi::Stat* stat = abi::stat_row(rows, stride, row);
      for (uint32_t i = 0; i < abi::kLogBuckets; ++i) log += abi::stat_log(stat)[i];
      below += abi::stat_linear(stat, shape)[0];
      above += abi::stat_linear(stat, shape)[12];
    }
    EXPECT_EQ(log, 4 * kTurns * 2001);
    EXPECT_EQ(below, 4 * kTurns * 1000);
    EXPECT_EQ(above, 4 * kTurns * (1000 - 109));  // the bucket of 100 ends at 109
    return {rows, stride};
  }
  static constexpr int kTurns = 200;
};

TEST_F(Statistics, OfThreadsAreExactAndCleared) {
  abi::StatShape shape = {};
  auto [rows, stride] = expect_exact(shape);
  uint32_t empty;
  dj_stat_clear(rows, stride, &shape);
  dj_stat_add(rows, stride, &shape, 7);
  EXPECT_EQ(dj_stat_read(rows, stride, abi::kStatMin, &empty), 7);
  EXPECT_EQ(empty, 0u);
}

TEST_F(Statistics, ThatGrowOfThreadsAreExact) {
  abi::StatShape shape = {};
  shape.extras = abi::kStatGrows;
  expect_exact(shape);
}

TEST(StatisticsWords, BucketsOfTheLogarithm) {
  EXPECT_EQ(abi::log_bucket(0), 65u);
  EXPECT_EQ(abi::log_bucket(1), 66u);
  EXPECT_EQ(abi::log_bucket(3), 67u);
  EXPECT_EQ(abi::log_bucket(4), 68u);
  EXPECT_EQ(abi::log_bucket(-1), 64u);
  EXPECT_EQ(abi::log_bucket(INT64_MAX), 128u);
  EXPECT_EQ(abi::log_bucket(INT64_MIN), 1u);
}

TEST(StatisticsWords, ExtremesAreRepresentable) {
  abi::Stat stat = {};
  abi::StatTotal total;
  stat.count = 1;
  stat.min_word = INT64_MIN ^ INT64_MAX;
  stat.max_word = INT64_MIN ^ INT64_MIN;
  total.add(stat);
  EXPECT_EQ(total.get(abi::kStatMin), INT64_MIN);
  EXPECT_EQ(total.get(abi::kStatMax), INT64_MIN);
}

}  // namespace
}  // namespace dj
