// SPDX-License-Identifier: Apache-2.0
// Rings and contexts: nothing is lost uncounted, and what killed processes leave behind blocks
// nobody.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <map>
#include <thread>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

struct Message {
  uint32_t site;
  uint64_t number;
  std::string text;
};

class Events : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    for (uint32_t i = 0; i <= header().cpus; ++i)
      readers.push_back(abi::ring_reader(kTestRingBytes));
  }
  // Reads as djtap does: a copy of each record, whose contents may be anything.
  size_t drain(bool give_up) {
    size_t count = 0;
    for (uint32_t i = 0; i < readers.size(); ++i) {
      while (const abi::EventHeader* record = abi::ring_peek(ring(i), &readers[i], give_up)) {
        std::vector<char> copy(readers[i].size);
        memcpy(copy.data(), record, copy.size());
        records.push_back(copy);
        abi::ring_next(&readers[i]);
        ++count;
      }
      abi::ring_free(ring(i), &readers[i]);
    }
    return count;
  }
  static const abi::EventHeader& head(const std::vector<char>& record) {
    return *reinterpret_cast<const abi::EventHeader*>(record.data());
  }
  static Message message(const std::vector<char>& record) {
    auto* words = reinterpret_cast<const uint64_t*>(record.data() + sizeof(abi::EventHeader));
    uint32_t offset = static_cast<uint32_t>(words[1]);
    EXPECT_LE(offset + (words[1] >> 32), record.size());
    return {head(record).site, words[0], std::string(record.data() + offset, words[1] >> 32)};
  }
  void send(uint32_t site, uint64_t number) {
    char buffer[64];
    auto* s = reinterpret_cast<abi::Str*>(buffer);
    s->len = static_cast<uint32_t>(
        snprintf(s->data, 40, "%0*lu", static_cast<int>(number % 30), number));
    uint64_t args[2] = {number, reinterpret_cast<uint64_t>(s)};
    dj_event_print(site, 1, args, 2, 2);
  }
  std::vector<abi::RingReader> readers;
  std::vector<std::vector<char>> records;
};

TEST_F(Events, AreReadOrCounted) {
  constexpr uint32_t kThreads = 4, kEvents = 50'000;
  std::atomic<uint32_t> running = kThreads;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEvents; ++i) send(t, i);
      --running;
    });
  }
  while (running > 0) drain(false);
  for (std::thread& thread : threads) thread.join();
  drain(false);
  EXPECT_EQ(records.size() + words().skipped[abi::kSkipRingFull], uint64_t{kThreads} * kEvents);
  EXPECT_GE(records.size(), kTestRingBytes / 128);  // all, or at least what fills a ring
  std::map<std::pair<uint32_t, uint64_t>, int> seen;
  for (const std::vector<char>& record : records) {
    ASSERT_EQ(head(record).kind, abi::kEventPrint);
    Message got = message(record);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%0*lu", static_cast<int>(got.number % 30), got.number);
    ASSERT_EQ(got.text, wanted);
    int times = ++seen[std::make_pair(got.site, got.number)];
    ASSERT_EQ(times, 1);
  }
}

TEST_F(Events, SurviveProcessesKilledInside) {
  uint64_t lost = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    pid_t child = fork();
    if (child == 0) {
      for (uint64_t i = 0;; ++i) send(7, i);
    }
    usleep(1000 + round * 37 % 500);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    drain(true);
    records.clear();
    send(8, round);
    drain(true);
    if (records.empty() || message(records.back()).number != round) ++lost;
    records.clear();
  }
  EXPECT_EQ(lost, 0u);
}

TEST_F(Events, PayloadsPassForNoStamps) {
  abi::Ring* one = ring(0);
  abi::RingReader reader = abi::ring_reader(kTestRingBytes);
  uint64_t position = 0;
  abi::EventHeader* record = abi::ring_reserve(one, kTestRingBytes, kTestRingBytes, &position);
  record->size = kTestRingBytes;
  record->kind = abi::kEventPrint;
  const uint64_t next = kTestRingBytes + abi::kEventAlign;
  abi::EventHeader* payload = abi::ring_at(one, kTestRingBytes, next);
  payload->stamp = next + 1;
  payload->size = abi::kEventAlign;
  payload->kind = abi::kEventPrint;
  abi::ring_commit(record, position);
  ASSERT_NE(nullptr, abi::ring_peek(one, &reader, false));
  abi::ring_next(&reader);
  abi::ring_free(one, &reader);

  record = abi::ring_reserve(one, kTestRingBytes, abi::kEventAlign, &position);
  record->size = abi::kEventAlign;
  record->kind = abi::kEventPrint;
  abi::ring_commit(record, position);
  ASSERT_NE(nullptr, abi::ring_peek(one, &reader, false));
  abi::ring_next(&reader);
  ASSERT_NE(nullptr, abi::ring_reserve(one, kTestRingBytes, abi::kEventAlign,
                                       &position));  // and never finished
  EXPECT_EQ(position, next);
  EXPECT_EQ(nullptr, abi::ring_peek(one, &reader, false));
}

TEST_F(Events, ReaderSurvivesScribbledRings) {
  for (uint64_t i = 0; i < 100; ++i) send(1, i);
  for (uint32_t i = 0; i < readers.size(); ++i) {
    auto* words = reinterpret_cast<uint32_t*>(ring(i) + 1);
    for (uint32_t w = 0; w < 512; w += 7) words[w] = w * 0x9e3779b9u;
  }
  drain(true);
  for (uint32_t i = 0; i < readers.size(); ++i) {
    ring(i)->head = ~uint64_t{0};
  }
  drain(true);
  for (const std::vector<char>& record : records) EXPECT_LE(record.size(), kTestRingBytes);
}

TEST_F(Events, ErrorsSayWhereAndWho) {
  abi::Context* ctx = dj_enter(5);
  dj_raise(ctx, 5, 3, abi::kErrBadAddress, 0x1234);
  EXPECT_EQ(ctx->raised, 1u);
  dj_leave(ctx);
  drain(false);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(head(records[0]).kind, abi::kEventError);
  EXPECT_EQ(head(records[0]).site, 5u);
  abi::ErrorPayload error;
  memcpy(&error, records[0].data() + sizeof(abi::EventHeader), sizeof error);
  EXPECT_EQ(error.error, abi::kErrBadAddress);
  EXPECT_EQ(error.span, 3u);
  EXPECT_EQ(error.a, 0x1234);
  EXPECT_EQ(error.pid, getpid());
  EXPECT_EQ(error.tid, static_cast<int>(syscall(SYS_gettid)));
}

TEST_F(Events, HistogramsAreSumsOfRows) {
  abi::StatShape shape = {sizeof(abi::Stat) + sizeof(int64_t) * abi::kLogBuckets, 1, 0, 0, 0, 0};
  auto* rows = reinterpret_cast<abi::Stat*>(take(uint64_t{shape.bytes} * (header().cpus + 1)));
  for (uint32_t row = 0; row <= header().cpus; ++row) {
    abi::stat_log(abi::stat_row(rows, shape.bytes, row))[66] = 10;
  }
  dj_event_hist(2, rows, shape.bytes, &shape, 0);
  drain(false);
  ASSERT_EQ(records.size(), 1u);
  auto* payload =
      reinterpret_cast<const abi::HistPayload*>(records[0].data() + sizeof(abi::EventHeader));
  EXPECT_EQ(payload->words, abi::kLogBuckets);
  EXPECT_EQ(reinterpret_cast<const uint64_t*>(payload + 1)[66], 10u * (header().cpus + 1));
}

TEST_F(Events, ContextsEndAndAreCounted) {
  std::vector<abi::Context*> taken;
  for (uint32_t i = 0; i < header().context_count; ++i) taken.push_back(dj_enter(0));
  for (abi::Context* ctx : taken) ASSERT_NE(ctx, nullptr);
  std::thread([&] {
    EXPECT_EQ(dj_enter(0), nullptr) << "all belong to frames that may live";
  }).join();
  EXPECT_EQ(words().skipped[abi::kSkipNoContext], 1u);
  dj_leave(taken[2]);
  EXPECT_EQ(dj_enter(0), taken[2]);
}

// As the kernel does in a forked child.
TEST_F(Events, ContextsStayTakenWhereASignalHandlerForks) {
  abi::ThreadTable* table = abi::thread_table_of(&header());
  abi::Context* interrupted = dj_enter(0);
  const uint64_t of_other = (interrupted->index + 1) % header().context_count;
  table->context_owners[of_other] = 1;
  table->context_runs[of_other] = 64;
  std::memset(static_cast<void*>(table), 0, abi::kWipedBytes);
  for (uint32_t i = 1; i < header().context_count; ++i) EXPECT_NE(dj_enter(0), interrupted);
  std::thread([&] { EXPECT_EQ(dj_enter(0), nullptr) << "no other one is free"; }).join();
  dj_leave(interrupted);
  EXPECT_EQ(dj_enter(0), interrupted);
}

TEST_F(Events, ContextsOfTheDeadComeBack) {
  for (int i = 0; i < 20; ++i) {
    std::thread([] { EXPECT_NE(dj_enter(0), nullptr); }).join();
    pid_t child = fork();
    if (child == 0) {
      dj_enter(0);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(words().skipped[abi::kSkipNoContext], 0u);
}

__attribute__((noinline)) void enter_deep(int depth) {
  char frame[256];
  asm volatile("" : : "r"(frame) : "memory");
  if (depth > 0) {
    enter_deep(depth - 1);
  } else {
    EXPECT_NE(dj_enter(0), nullptr);
  }
  asm volatile("" : : "r"(frame) : "memory");
}

TEST_F(Events, ContextsOfUnwoundFramesComeBack) {
  for (int i = 0; i < 20; ++i) enter_deep(10);
  EXPECT_EQ(words().skipped[abi::kSkipNoContext], 0u);
}

TEST_F(Events, ActionsAndNestingAreBounded) {
  header().max_action = 6;  // a call is an action, too
  header().max_nesting = 2;
  abi::Context* ctx = dj_enter(0);
  EXPECT_EQ(dj_action(ctx) + dj_action(ctx) + dj_action(ctx), 3u);
  EXPECT_EQ(dj_nest(ctx) + dj_nest(ctx), 2u);
  dj_unnest(ctx);
  EXPECT_EQ(dj_nest(ctx), 1u);
  EXPECT_EQ(ctx->raised, 0u);
  EXPECT_EQ(dj_action(ctx), 0u);
  EXPECT_EQ(ctx->raised, 1u);
  EXPECT_EQ(words().skipped[abi::kSkipMaxAction], 1u);
}

}  // namespace
}  // namespace dj
