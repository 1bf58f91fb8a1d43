// SPDX-License-Identifier: Apache-2.0
// Captures: what return probes keep is found by the call that it belongs to, whatever signals,
// longjmp and ended threads leave behind; where threads have entries of their own, and where not.
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/agent/arena_support.h"
#include "runtime/agent/capture_place.h"
#include "runtime/agent/thread.h"

namespace dj {
namespace {

// With a ThreadTable, and without one.
class Captures : public TestArena, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    if (!GetParam()) header().threads = {};
  }
  abi::Captures& captures() { return *header().captures.get(place()); }
  abi::CaptureCount& count() { return *abi::capture_count(place(), &captures(), 1); }
  uint64_t in_buckets() {
    const abi::Capture* entries = captures().buckets.get(place());
    return static_cast<uint64_t>(
        std::count_if(entries, entries + abi::kCaptureWays * (captures().bucket_mask + 1),
                      [](const abi::Capture& entry) { return entry.owner != 0; }));
  }
};
INSTANTIATE_TEST_SUITE_P(Entries, Captures, testing::Bool(), [](const auto& info) {
  return info.param ? "OfEachThread" : "OfAllThreads";
});

TEST_P(Captures, FindTheirFrame) {
  uint64_t frame[64], in[3] = {1, 2, 3}, out[3] = {};
  auto slot = [&](int i) { return reinterpret_cast<uint64_t>(&frame[i]); };
  dj_capture_store(1, slot(0), in, 3);
  in[0] = 9;
  dj_capture_store(1, slot(8), in, 3);
  dj_capture_store(2, slot(0), in + 1, 2);
  std::thread([&] { EXPECT_EQ(dj_capture_take(1, slot(0), out, 3), 0u); }).join();
  EXPECT_EQ(words().skipped[abi::kSkipReturnMiss], 1u);
  ASSERT_EQ(dj_capture_take(1, slot(0), out, 3), 1u);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[2], 3u);
  EXPECT_EQ(dj_capture_take(1, slot(0), out, 3), 0u) << "taken once";
  ASSERT_EQ(dj_capture_take(1, slot(8), out, 1), 1u);
  EXPECT_EQ(out[0], 9u);
  ASSERT_EQ(dj_capture_take(2, slot(0), out, 2), 1u);
  EXPECT_EQ(out[0], 2u);
}

TEST_P(Captures, ThatNobodyReturnedFromAreNotFoundAgain) {
  captures().bucket_mask = 0;  // one bucket, so that the first entry may be another call's
  captures().counting = 1;     // where nobody counts a frame that is gone may be noticed later
  uint64_t frame[64], value = 5, out = 0;
  auto slot = [&](int i) { return reinterpret_cast<uint64_t>(&frame[i]); };
  dj_capture_store(1, slot(0), &value, 1);
  dj_capture_store(1, slot(8), &value, 1);  // left by an exception; behind the first entry
  ASSERT_EQ(dj_capture_take(1, slot(0), &out, 1), 1u);
  value = 7;
  dj_capture_store(1, slot(8), &value, 1);
  ASSERT_EQ(dj_capture_take(1, slot(8), &out, 1), 1u);
  EXPECT_EQ(out, 7u);
  EXPECT_EQ(dj_capture_take(1, slot(8), &out, 1), 0u);
  EXPECT_EQ(count().abandoned, 1u);

  dj_capture_store(1, slot(0), &value, 1);
  count().epoch++;  // switched off and on: what became of the call?
  EXPECT_EQ(dj_capture_take(1, slot(0), &out, 1), 0u);
}

__attribute__((noinline)) void capture_deep(int depth, uint64_t value) {
  char frame[128];
  asm volatile("" : : "r"(frame) : "memory");
  if (depth > 0) {
    capture_deep(depth - 1, value);
  } else {
    dj_capture_store(1, reinterpret_cast<uint64_t>(frame), &value, 1);
  }
  asm volatile("" : : "r"(frame) : "memory");
}

TEST_P(Captures, OfThreadsThatEndedMakeRoom) {
  uint64_t value = 5;
  captures().bucket_mask = 0;  // 8 entries in all, and those of each thread
  for (int i = 0; i < 30; ++i) {
    std::thread([&] {
      dj_capture_store(1, reinterpret_cast<uint64_t>(&value) + 8, &value, 1);
    }).join();
  }
  EXPECT_EQ(words().skipped[abi::kSkipReturnFull], 0u);
}

TEST_P(Captures, OfUnwoundFramesMakeRoom) {
  captures().bucket_mask = 0;
  for (int depth = 30; depth > 0; --depth) capture_deep(depth, 1);
  EXPECT_EQ(words().skipped[abi::kSkipReturnFull], 0u);
  uint64_t above[64], value = 1;  // frames that live: there is no more room
  for (uint64_t& word : above)
    dj_capture_store(1, reinterpret_cast<uint64_t>(&word) + 4096, &value, 1);
  EXPECT_GT(words().skipped[abi::kSkipReturnFull], 0u);
}

// Where return addresses of living frames stand: on the stack, in a test's own frame.
struct Slots {
  uint64_t operator()(uint64_t i) const { return reinterpret_cast<uint64_t>(&words[2 * i]); }
  alignas(16) uint64_t words[128] = {};
};

// Those of the thread that runs the test.
class OwnCaptures : public Captures {
 protected:
  abi::ThreadBlock& block() {
    auto* table = header().threads.get(place());
    return table->blocks[agent::thread_index(agent::fs_base())];
  }
  void keep(uint64_t slot, uint64_t value) { dj_capture_store(1, slot, &value, 1); }
  // 0: the call is not known.
  uint64_t taken(uint64_t slot) {
    uint64_t value = 0;
    return dj_capture_take(1, slot, &value, 1) != 0 ? value : 0;
  }
};
INSTANTIATE_TEST_SUITE_P(Entries, OwnCaptures, testing::Values(true));

TEST_P(OwnCaptures, HoldCallsAndWhatDoesNotFitIsInBuckets) {
  const Slots slot;
  constexpr uint64_t kCalls = 60;
  keep(slot(0), 1);
  EXPECT_EQ(in_buckets(), 0u) << "the first call gets the thread its block";
  for (uint64_t i = 1; i < kCalls; ++i) keep(slot(i), i + 1);
  EXPECT_GE(in_buckets(), kCalls - (1 << abi::kThreadCaptureBits));
  for (uint64_t i = kCalls; i-- > 0;) EXPECT_EQ(taken(slot(i)), i + 1);
  EXPECT_EQ(in_buckets(), 0u);
  EXPECT_EQ(taken(slot(0)), 0u) << "taken once";
}

TEST_P(OwnCaptures, AreNotUsedWhileCallsAreCounted) {
  const Slots slot;
  captures().counting = 1;
  keep(slot(0), 1);
  EXPECT_EQ(in_buckets(), 1u);
  EXPECT_EQ(taken(slot(0)), 1u);
  EXPECT_EQ(count().entered, 1u);
  EXPECT_EQ(count().returned, 1u);
}

TEST_P(OwnCaptures, AreLeftToALivingThread) {
  const Slots slot;
  block().word = agent::thread_word(0x123456000, static_cast<uint32_t>(getppid()));
  for (uint64_t i = 0; i < 1000; ++i) {
    keep(slot(0), i + 1);
    EXPECT_EQ(in_buckets(), 1u);
    EXPECT_EQ(taken(slot(0)), i + 1);
  }
}

TEST_P(OwnCaptures, OfAControlBlockThatIsUsedAgainAreTheNewThreads) {
  const Slots slot;
  keep(slot(0), 1);
  EXPECT_EQ(in_buckets(), 0u);
  const uint64_t fs = agent::fs_base();
  block().word = agent::thread_word(fs, static_cast<uint32_t>(getppid()));  // of the one before
  agent::forget_thread(fs);
  keep(slot(0), 2);
  EXPECT_EQ(agent::tid_of(block().word), agent::kernel_thread_id());
  EXPECT_EQ(taken(slot(0)), 2u);
}

TEST_P(OwnCaptures, OfCoroutinesBelowTheStackPointerStay) {
  constexpr uint64_t kCoroutines = 60;
  const auto stacks = std::make_unique<uint64_t[]>(2 * kCoroutines);  // the heap is below
  ASSERT_LT(reinterpret_cast<uint64_t>(&stacks[2 * kCoroutines - 1]),
            reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  for (uint64_t i = 0; i < kCoroutines; ++i)
    keep(reinterpret_cast<uint64_t>(&stacks[2 * i]), i + 1);
  for (uint64_t i = 0; i < kCoroutines; ++i)
    EXPECT_EQ(taken(reinterpret_cast<uint64_t>(&stacks[2 * i])), i + 1);
}

TEST_P(OwnCaptures, AreFoundWhileTheThreadLooksUnregistered) {
  const Slots slot;
  keep(slot(0), 1);
  const agent::Place place(1, slot(0));
  EXPECT_NE(place.own, nullptr);
  EXPECT_EQ(agent::block_of(agent::kernel_thread_id()), &block());
  EXPECT_EQ(agent::block_of(agent::kernel_thread_id() + 1), nullptr) << "a vfork child";
}

TEST_P(OwnCaptures, AreNewerThanWhatIsLeftInABucket) {
  const Slots slot;
  keep(slot(0), 1);
  const uint64_t mine = block().word;
  block().word = agent::thread_word(0x123456000, static_cast<uint32_t>(getppid()));
  keep(slot(1), 2);  // to the bucket; its frame never returns
  block().word = mine;
  keep(slot(1), 3);
  dj_tail_leave(1, abi::kExitOwn, slot(1));
  EXPECT_EQ(count().abandoned, 1u);
  EXPECT_EQ(count().in_tails, 1u);
  dj_tail_land(1, slot(1));
}

std::atomic<uint64_t> g_wrong, g_signals;

// One call that keeps a value, and another inside of it.
void call_twice(uint64_t seed) {
  uint64_t frame[8], out = 0;
  const uint64_t outer = reinterpret_cast<uint64_t>(frame), inner = outer + 32;
  uint64_t value = seed;
  dj_capture_store(1, outer, &value, 1);
  value = seed + 1;
  dj_capture_store(1, inner, &value, 1);
  if (dj_capture_take(1, inner, &out, 1) == 0 || out != seed + 1) g_wrong++;
  if (dj_capture_take(1, outer, &out, 1) == 0 || out != seed) g_wrong++;
}

void let_signals(bool come) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(come ? SIG_UNBLOCK : SIG_BLOCK, &alarm, nullptr);
}

// Calls that signals come into, at any instruction, and into nothing else.
void call_often() {
  let_signals(true);
  for (uint64_t i = 0; i < 1000; ++i) call_twice(i);
  let_signals(false);
}

// Calls `body` until the handler has run 3,000 times.
template <typename Body>
void interrupt_often(void (*handler)(int), Body body) {
  g_wrong = g_signals = 0;
  let_signals(false);
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often = {{0, 50}, {0, 50}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  uint64_t rounds = 0;
  for (; g_signals < 3000 && rounds < 1'000'000; ++rounds) body();
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_IGN);  // takes back the one that waits
  let_signals(true);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GE(g_signals, 3000u) << rounds;
  EXPECT_EQ(g_wrong, 0u);
}

TEST_P(OwnCaptures, AreExactUnderSignals) {
  interrupt_often([](int) { call_twice(1000 + 2 * ++g_signals); }, call_often);
}

// What the handler jumps out of is left half made, or made and never taken.
TEST_P(OwnCaptures, AreExactWhereSignalHandlersJumpOut) {
  static sigjmp_buf out;
  interrupt_often(
      [](int) {
        call_twice(1000 + 2 * ++g_signals);
        siglongjmp(out, 1);
      },
      [] {
        if (sigsetjmp(out, 1) == 0) call_often();  // back with signals held
      });
  EXPECT_EQ(words().skipped[abi::kSkipReturnFull], 0u);
}

TEST_P(OwnCaptures, AreExactInManyThreads) {
  g_wrong = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 16; ++t) {
      threads.emplace_back([t] {
        for (uint64_t i = 0; i < 5000; ++i) call_twice(100 * t + i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(g_wrong, 0u);
}

}  // namespace
}  // namespace dj
