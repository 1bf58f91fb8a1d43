// SPDX-License-Identifier: Apache-2.0
// Drain: events of several rings come out in the order of their times, whatever is unfinished.
#include "runtime/output/drain.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/shared/event.h"
#include "runtime/shared/ring.h"

namespace dj {
namespace {

constexpr uint64_t kRingBytes = 4096;

// Two rings, and prints of one number each.
class DrainTest : public testing::Test {
 protected:
  struct Memory {
    abi::Header header = {};
    alignas(64) uint8_t rings[2][abi::ring_bytes(kRingBytes)] = {};
  };
  struct Open {
    abi::EventHeader* head = nullptr;
    uint64_t position = 0;
  };

  DrainTest() {
    program_.formats.push_back({"%d", {Type::Int}});
    program_.probes.emplace_back().body = printing(0);
    layout_.base = reinterpret_cast<uint64_t>(memory_.get());
    layout_.bytes = sizeof(Memory);
    layout_.limits.ring_bytes = kRingBytes;
    layout_.cpus = 1;
    layout_.header.rings.offset = offsetof(Memory, rings);
    layout_.header.ring_stride = sizeof memory_->rings[0];
    layout_.header.ring_bytes = kRingBytes;
    drain_.emplace(DrainInput{program_, image_, plan_, sources_, layout_,
                              [this](const PrintRecord& record) { shown_ += record.text; }},
                   output_);
  }

  // A body of one print by that format.
  static StmtPtr printing(FormatId format) {
    auto expr = std::make_unique<Expr>();
    expr->node = Print{true, format, {}};
    auto stmt = std::make_unique<Stmt>();
    stmt->node = ExprStmt{std::move(expr)};
    return stmt;
  }
  abi::Ring* ring(int i) { return reinterpret_cast<abi::Ring*>(memory_->rings[i]); }

  Open reserve(int i, int64_t number) {
    Open open;
    constexpr uint32_t kBytes = 2 * abi::kEventAlign;
    open.head = abi::ring_reserve(ring(i), kRingBytes, kBytes, &open.position);
    open.head->size = kBytes;
    open.head->kind = abi::kEventPrint;
    open.head->count = 1;
    *reinterpret_cast<int64_t*>(open.head + 1) = number;
    return open;
  }
  static void finish(const Open& open, uint64_t tsc) {
    open.head->tsc = tsc;
    abi::ring_commit(open.head, open.position);
  }
  // Two rounds: an event is written in the one after it was seen.
  std::string shown() {
    for (int round : {0, 1}) static_cast<void>(round), drain_->run(false);
    return shown_;
  }

  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  Program program_;
  Image image_;
  Plan plan_;
  Sources sources_;
  Layout layout_;
  Output output_ = Output::open("/dev/null", {}).take();
  std::string shown_;
  std::optional<Drain> drain_;
};

TEST_F(DrainTest, RingsAreMergedByTime) {
  finish(reserve(0, 1), 10);
  finish(reserve(0, 3), 30);
  finish(reserve(1, 2), 20);
  EXPECT_EQ(shown(), "123");
}

TEST_F(DrainTest, WhatIsUnfinishedHoldsBackWhatMayBeLater) {
  const Open first = reserve(0, 2), second = reserve(0, 1);
  finish(reserve(1, 3), 30);
  finish(first, 20);  // its thread waited between its place and its time, the second one's did not
  EXPECT_EQ(shown(), "");
  finish(second, 10);
  EXPECT_EQ(shown(), "123");
}

// Between a look at the head and one at the tail others may fill the ring and djtap empty it.
TEST_F(DrainTest, ATailBeyondTheHeadIsNoFullRing) {
  ring(0)->tail = uint64_t{4} * abi::kEventAlign;
  uint64_t position = 0;
  EXPECT_NE(abi::ring_reserve(ring(0), kRingBytes, abi::kEventAlign, &position), nullptr);
  EXPECT_EQ(abi::ring_reserve(ring(0), kRingBytes, 2 * kRingBytes, &position), nullptr);
}

TEST_F(DrainTest, AtTheEndTheUnfinishedAreGivenUp) {
  reserve(0, 1);
  finish(reserve(0, 2), 20);
  EXPECT_EQ(shown(), "");
  drain_->run(true);
  EXPECT_EQ(shown_, "2");
  EXPECT_EQ(drain_->abandoned(), 1u);
}

// What the target writes into a ring itself.
class ForgedRecords : public DrainTest {
 protected:
  // A record of one number that is as the script's, but for what `spoil` changes.
  template <typename Spoil>
  void forge(Spoil spoil) {
    const Open open = reserve(0, 7);
    spoil(*open.head);
    finish(open, 20);
  }
};

TEST_F(ForgedRecords, OnlyWhatTheScriptCanSendIsWritten) {
  for (uint16_t kind = 0; kind < 20; ++kind) {
    if (kind != abi::kEventPrint) forge([&](abi::EventHeader& head) { head.kind = kind; });
  }
  forge([](abi::EventHeader& head) { head.format = 1; });
  forge([](abi::EventHeader& head) { head.count = 2; });
  forge([](abi::EventHeader& head) { head.count = 0; });
  forge([](abi::EventHeader& head) { head.site = 1; });
  forge([](abi::EventHeader&) {});
  EXPECT_EQ(shown(), "7");
}

TEST_F(ForgedRecords, ATimeThatIsYetToComeHoldsNothingBack) {
  const Open open = reserve(0, 1);
  finish(open, ~0ull);
  finish(reserve(1, 2), 20);
  EXPECT_EQ(shown(), "2");
}

TEST_F(ForgedRecords, AHeadThatIsNoPositionIsNotFollowed) {
  finish(reserve(0, 1), 10);
  ring(0)->head = ring(0)->tail = 1 << 30;
  finish(reserve(1, 2), 20);
  EXPECT_EQ(shown(), "2");
}

// One thread keeps a record open, others fill the ring: what is held does not grow.
TEST_F(ForgedRecords, WhatIsHeldIsBounded) {
  reserve(0, 0);
  constexpr int kMany = 1'000'000;
  for (int i = 0; i < kMany; ++i) {
    const Open open = reserve(1, 1);
    finish(open, 30);
    if (i % 32 == 31) drain_->run(false);
  }
  EXPECT_GT(shown_.size(), kMany / 2u);
}

}  // namespace
}  // namespace dj
