// SPDX-License-Identifier: Apache-2.0
// Rows of their own: nobody gets one that a living thread has, and what threads count in them is
// exact under preemption and signals.
#include "runtime/shared/thread_rows.h"

#include <asm/prctl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <set>
#include <thread>

#include "runtime/agent/arena_support.h"

extern "C" void dj_own_row();

namespace dj {
namespace {

class Rows : public TestArena {
 protected:
  void make_rows(uint32_t count) {
    header().counters.offset =
        offset_of(take((header().cpus + 1 + uint64_t{count}) << header().counter_shift));
    header().thread_rows.offset =
        offset_of(take(sizeof(abi::ThreadRows) + sizeof(uint32_t) * count));
    header().thread_row_count = count;
  }
  abi::ThreadRows& rows() { return *abi::thread_rows(&header()); }
};

TEST_F(Rows, EachThreadGetsItsOwnUntilNoneIsLeft) {
  make_rows(5);
  const auto none_is_gone = [](uint32_t) { return false; };
  EXPECT_EQ(abi::counter_rows(&header()), header().cpus + 1);
  std::set<uint32_t> given;
  for (uint32_t tid = 100; tid < 104; ++tid)
    given.insert(abi::take_thread_row(&rows(), 5, tid, none_is_gone));
  EXPECT_EQ(given, (std::set<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(abi::counter_rows(&header()), header().cpus + 1 + 5);
  EXPECT_EQ(abi::take_thread_row(&rows(), 5, 104, none_is_gone), 0u);
  EXPECT_EQ(rows().crowded, 1u);
}

TEST_F(Rows, ARowOfADeadThreadIsGivenAgain) {
  make_rows(5);
  for (uint32_t tid = 100; tid < 104; ++tid)
    abi::take_thread_row(&rows(), 5, tid, [](uint32_t) { return false; });
  const auto gone = [](uint32_t tid) { return tid == 102; };
  EXPECT_EQ(abi::take_thread_row(&rows(), 5, 105, gone), 3u);
  EXPECT_EQ(rows().owner[3], 105u);
  EXPECT_EQ(abi::take_thread_row(&rows(), 5, 106, gone), 0u);
}

// What a detour does.
void count_here(uint64_t word) { asm volatile("incq %%gs:(%0)" : : "r"(word) : "memory", "cc"); }

uint64_t counted_word;
volatile uint64_t signals;
void count_in_signal(int) {
  count_here(counted_word);
  __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

TEST_F(Rows, ThreadsAndForkedChildrenCountExactly) {
  constexpr unsigned long kFsGsBase = 2;
  if ((getauxval(AT_HWCAP2) & kFsGsBase) == 0)
    GTEST_SKIP() << "the kernel keeps wrgsbase to itself";
  make_rows(12);  // fewer than threads in all: rows of dead ones are used again
  counted_word =
      header().counters.address(place()) + (uint64_t{header().cpus + 1} << header().counter_shift);
  signals = 0;
  signal(SIGALRM, count_in_signal);
  itimerval often = {{0, 150}, {0, 150}};
  setitimer(ITIMER_REAL, &often, nullptr);
  dj_own_row();
  constexpr int kRounds = 5, kThreads = 4, kAdds = 1'000'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([] {
        dj_own_row();
        dj_own_row();  // has one: keeps it
        for (int i = 0; i < kAdds; ++i) count_here(counted_word);
      });
    }
    if (fork() == 0) {
      dj_own_row();
      for (int i = 0; i < kAdds; ++i) count_here(counted_word);
      _exit(0);
    }
    for (std::thread& thread : threads) thread.join();
    while (wait(nullptr) < 0) {
    }
  }
  itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_DFL);
  syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
  EXPECT_EQ(rows().crowded, 0u);
  EXPECT_EQ(dj_count_read(0),
            int64_t{kRounds} * (kThreads + 1) * kAdds + static_cast<int64_t>(signals));
}

}  // namespace
}  // namespace dj
