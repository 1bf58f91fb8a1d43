// SPDX-License-Identifier: Apache-2.0
// Handlers executed: what scripts compute, checked against values written down here.
#include <gtest/gtest.h>

#include <thread>

#include "compiler/lower/session_test.h"

namespace dj {
namespace {

Registers with_arguments(std::vector<uint64_t> values) {
  static constexpr int kOrder[] = {5, 4, 1, 2, 8, 9};  // rdi rsi rdx rcx r8 r9
  Registers registers;
  for (int i = 0; i < 16; ++i) registers.r[i] = 0x1111111111111111u * i + i;
  for (size_t i = 0; i < values.size(); ++i) registers.r[kOrder[i]] = values[i];
  return registers;
}

// One int result of an expression of $a, $b.
int64_t evaluate(const std::string& expression, int64_t a = 0, int64_t b = 0) {
  TestSession session("global r = 0x5a5a\nprobe func(\"f\") { r = " + expression +
                      " }\nprobe end { print(r) }");
  session.hit(0, with_arguments({static_cast<uint64_t>(a), static_cast<uint64_t>(b)}));
  return session.number("r");
}

TEST(Lower, CounterCountsEveryHit) {
  TestSession session("probe func(\"f\") < count++ >");
  for (int i = 0; i < 1000; ++i) session.hit(0, with_arguments({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(session.number("count"), 1000);
  EXPECT_FALSE(session.abis[0].wants_site);
  EXPECT_TRUE(session.abis[0].stack_regs.empty());
}

TEST(Lower, CounterWithoutRseq) {
  SessionOptions options;
  options.has_rseq = false;
  TestSession session("probe func(\"f\") { count += 3; count-- }", options);
  for (int i = 0; i < 10; ++i) session.hit(0);
  EXPECT_EQ(session.number("count"), 20);
}

// What detours may do themselves, in threads' own rows; and all that they may not.
TEST(Lower, ACountAloneIsSaidToBeOne) {
  const std::pair<const char*, int> bodies[] = {{"count++", 1},
                                                {"++count", 1},
                                                {"count--", -1},
                                                {"{ count += 300 }", 300},
                                                {"count -= 7", -7}};
  for (const auto& [body, add] : bodies) {
    TestSession session(std::string("probe func(\"f\") { ") + body + " }");
    EXPECT_EQ(session.abis[0].count_word, session.layout.thread_words()) << body;
    EXPECT_EQ(session.abis[0].count_add, add) << body;
  }
  for (const char* body : {"count++; count++", "count += $a", "if (1) count++", "count = 1",
                           "a[1]++", "count += 9999999999", "old = count++"}) {
    TestSession session(std::string("global count, old\nprobe func(\"f\") { ") + body +
                        " }\nprobe end { print(old) }");
    EXPECT_EQ(session.abis[0].count_word, 0u) << body;
  }
  TestSession read("global n\nprobe func(\"f\") { n++ }\nprobe func(\"g\") { m = n }");
  EXPECT_EQ(read.abis[1].count_word, 0u);
}

TEST(Lower, CounterIsExactUnderThreads) {
  TestSession session("probe func(\"f\") { count++ }");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&session] {
      for (int i = 0; i < 100000; ++i) session.hit(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session.number("count"), 400000);
}

TEST(Lower, Arithmetic) {
  EXPECT_EQ(evaluate("$a + $b * 3 - 1", 5, 7), 25);
  EXPECT_EQ(evaluate("-$a / $b", 7, 2), -3);
  EXPECT_EQ(evaluate("-$a % $b", 7, 4), -3);
  EXPECT_EQ(evaluate("$a / $b", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(evaluate("$a % $b", INT64_MIN, -1), 0);
  EXPECT_EQ(evaluate("$a << 65", 3), 6);
  EXPECT_EQ(evaluate("$a >> 1", -8), -4);
  EXPECT_EQ(evaluate("$a >>> 1", -8), INT64_MAX - 3);
  EXPECT_EQ(evaluate("($a & 12) | ($b ^ 5)", 10, 3), 14);
  EXPECT_EQ(evaluate("~$a + !$b", 1, 0), -1);
  EXPECT_EQ(evaluate("$a < $b ? 10 : 20", -1, 1), 10);
  EXPECT_EQ(evaluate("$a && $b", 5, 0), 0);
  EXPECT_EQ(evaluate("$a || $b", 5, 0), 1);
}

TEST(Lower, LogicalOperatorsStopEarly) {
  TestSession session(
      "global n, r\nprobe func(\"f\") { if ($a && n++) r = 1; if ($a || n++) r += 2 }\n"
      "probe end { print(n, r) }");
  session.hit(0, with_arguments({0}));
  EXPECT_EQ(session.number("n"), 1);
  EXPECT_EQ(session.number("r"), 0);
}

TEST(Lower, DivisionByZeroRaisesAndLeaves) {
  TestSession session(
      "global r, after\nprobe func(\"f\") { r = 7; r = $a / $b; after = 1 }\nprobe end { print(r, "
      "after) }");
  session.hit(0, with_arguments({1, 0}));
  EXPECT_EQ(session.number("r"), 7);
  EXPECT_EQ(session.number("after"), 0);
  EXPECT_EQ(session.words().error_count, 1u);
  session.hit(0, with_arguments({9, 3}));
  EXPECT_EQ(session.number("r"), 3);
  EXPECT_EQ(session.number("after"), 1);
}

TEST(Lower, ScalarUpdates) {
  TestSession session(
      "global g = 6, old, now\n"
      "probe func(\"f\") { old = g++; now = ++g; g *= 5; g -= 2; g <<= 1; g /= 4; g |= 64 }\n"
      "probe end { print(g, old, now) }");
  *reinterpret_cast<int64_t*>(session.layout.globals[0].address) = 6;
  session.hit(0);
  EXPECT_EQ(session.number("old"), 6);
  EXPECT_EQ(session.number("now"), 8);
  EXPECT_EQ(session.number("g"), ((8 * 5 - 2) * 2 / 4) | 64);
}

TEST(Lower, ArraysByTwoKeys) {
  TestSession session(
      "global a, hit, gone\n"
      "probe func(\"f\") { a[$a, \"x\"] += $b; if ([$a, \"x\"] in a) hit++; "
      "if ($b == 9) delete a[$a, \"x\"]; gone = a[$a, \"y\"] + 1 }\n"
      "probe end { print(a[1, \"x\"], hit, gone) }");
  session.hit(0, with_arguments({1, 5}));
  session.hit(0, with_arguments({1, 6}));
  session.hit(0, with_arguments({2, 9}));
  EXPECT_EQ(session.element("a", {1, session.interned("x")}), 11);
  EXPECT_EQ(session.element("a", {2, session.interned("x")}), 0);
  EXPECT_EQ(session.number("gone"), 1);
}

TEST(Lower, ArrayOperatorsReturnOldAndNew) {
  TestSession session(
      "global a, x, y\nprobe func(\"f\") { x = a[1]++; y = ++a[1]; a[1] *= 10; a[2] = a[1] / $a }\n"
      "probe end { print(a[1], x, y) }");
  session.hit(0, with_arguments({4}));
  EXPECT_EQ(session.number("x"), 0);
  EXPECT_EQ(session.number("y"), 2);
  EXPECT_EQ(session.element("a", {1}), 20);
  EXPECT_EQ(session.element("a", {2}), 5);
}

TEST(Lower, Strings) {
  TestSession session(
      "global s, t, n\n"
      "probe func(\"f\") { s = \"ab\" . sprintf(\"%d-%s\", $a, \"z\"); t = s; t .= \"!\"; "
      "n = strlen(t) + (s == \"ab42-z\") * 100 + (s < t) * 1000 }\nprobe end { print(s, t, n) }");
  session.hit(0, with_arguments({42}));
  EXPECT_EQ(session.text("s"), "ab42-z");
  EXPECT_EQ(session.text("t"), "ab42-z!");
  EXPECT_EQ(session.number("n"), 1107);
}

// Whatever a process that shares the arena writes into globals, keys and elements, handlers find ""
// or some text of the arena there.
TEST(Lower, ForgedReferencesAreFollowedInTheArenaOnly) {
  TestSession session(R"(
global text, kept, names, sizes
probe begin {
  text = text . "x"
  kept = text
  names[text] = kept
  sizes[names[text]]++
  foreach (key in names) kept = key . names[key]
}
probe end { sizes["a"] = strlen(names["b"]) }
)");
  uint64_t random = 1;
  const uint64_t data = session.layout.base + session.layout.header.constant_bytes;
  for (int round = 0; round < 2000; ++round) {
    for (const GlobalSlot& slot : session.layout.globals) {
      for (int i = 0; i < 8; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t word = i % 2 != 0 ? random : random >> 40;
        const uint64_t at =
            slot.data != 0 ? slot.data + (random >> 33) % 40000 / 8 * 8 : slot.address;
        ASSERT_GE(at, data);
        *reinterpret_cast<uint64_t*>(at) = word;
      }
    }
    session.run_host(round % 2);
  }
}

TEST(Lower, UnsetStringsAreEmpty) {
  TestSession session(
      "global s, a, n\nprobe func(\"f\") { if (s == \"\") n++; if (a[1] == \"\") n += 2; s = a[1] "
      ". s }\n"
      "probe end { s = \"x\"; a[1] = \"y\"; print(n) }");
  session.hit(0);
  EXPECT_EQ(session.number("n"), 3);
}

TEST(Lower, LoopsBreakAndContinue) {
  EXPECT_EQ(evaluate("0"), 0);
  TestSession session(
      "global r\nprobe func(\"f\") { for (i = 0; i < 100; i++) { if (i % 2) continue; "
      "if (i > 20) break; r += i } j = 0; while (1) { if (++j == $a) break }  r += j }\n"
      "probe end { print(r) }");
  session.hit(0, with_arguments({7}));
  EXPECT_EQ(session.number("r"), 0 + 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20 + 7);
}

TEST(Lower, EndlessLoopIsStopped) {
  TestSession session(
      "global n\nprobe func(\"f\") { while (1) n++ }\nprobe end { if (n) print(n) }");
  session.hit(0);
  int64_t reached = session.number("n");
  EXPECT_GE(reached, 900);
  EXPECT_LE(reached, 1001);
  EXPECT_EQ(session.words().skipped[abi::kSkipMaxAction], 1u);
}

TEST(Lower, ForeachSortedWithLimit) {
  TestSession session(
      "global a, order = \"\"\n"
      "probe func(\"f\") { a[$a] = $b }\n"
      "probe func(\"g\") { foreach (k- in a limit 3) order .= sprintf(\"%d \", k); "
      "foreach (k in a+) order .= sprintf(\"%d:%d \", k, a[k]) }\nprobe end { print(order) }");
  int64_t pairs[][2] = {{5, 50}, {1, 90}, {9, 10}, {3, 70}};
  for (auto& pair : pairs) session.hit(0, with_arguments({uint64_t(pair[0]), uint64_t(pair[1])}));
  session.hit(1);
  EXPECT_EQ(session.text("order"), "9 5 3 9:10 5:50 3:70 1:90 ");
}

TEST(Lower, ForeachDoesNotEatScratchMemory) {
  TestSession session(
      "global a, n\nprobe func(\"f\") { a[1] = 1; for (i = 0; i < 300; i++) foreach (k in a) n++ "
      "}\n"
      "probe end { print(n, a[1]) }");
  session.hit(0);
  EXPECT_EQ(session.number("n"), 300);
  EXPECT_EQ(session.words().error_count, 0u);
}

TEST(Lower, LeavingForeachEarlyGivesItsMemoryBack) {
  TestSession session(
      "global a, n\nfunction first() { foreach (k in a) return k }\n"
      "probe func(\"f\") { a[5] = 1; a[6] = 1; for (i = 0; i < 200; i++) { foreach (k in a) break; "
      "if (first()) n++ } }\nprobe end { print(n, a[1]) }");
  session.hit(0);
  EXPECT_EQ(session.number("n"), 200);
  EXPECT_EQ(session.words().error_count, 0u);
}

TEST(Lower, FunctionsAndRecursion) {
  TestSession session(
      "global r, s\nfunction fact(n) { if (n < 2) return 1; return n * fact(n - 1) }\n"
      "function twice(t) { return t . t }\n"
      "probe func(\"f\") { r = fact($a); s = twice(\"ab\") }\nprobe end { print(r, s) }");
  session.hit(0, with_arguments({8}));
  EXPECT_EQ(session.number("r"), 40320);
  EXPECT_EQ(session.text("s"), "abab");
}

TEST(Lower, EndlessRecursionIsStopped) {
  TestSession session(
      "global n, after\nfunction down(x) { n++; return down(x + 1) }\n"
      "probe func(\"f\") { down(1); after = 1 }\nprobe end { if (n) print(after) }");
  session.hit(0);
  EXPECT_LE(session.number("n"), 11);
  EXPECT_EQ(session.number("after"), 0);
  session.hit(0);  // the nesting is given back
  EXPECT_LE(session.number("n"), 22);
  EXPECT_GE(session.number("n"), 18);
}

TEST(Lower, Aggregates) {
  TestSession session(
      "global s, m, r\nprobe func(\"f\") { s <<< $a; m[$b] <<< $a }\n"
      "probe func(\"g\") { r[1] = @count(s); r[2] = @sum(s); r[3] = @min(s); r[4] = @max(s); "
      "r[5] = @avg(m[7]); r[6] = @count(m[8]) }\nprobe end { print(r[1]) }");
  for (int64_t value : {10, -4, 30})
    session.hit(0, with_arguments({static_cast<uint64_t>(value), 7}));
  session.hit(1);
  int64_t expected[] = {3, 36, -4, 30, 12, 0};
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(session.element("r", {i + 1}), expected[i]) << i;
}

TEST(Lower, EmptyAggregateRaises) {
  TestSession session(
      "global s, after\nprobe func(\"f\") { if (0) s <<< 1; after = @min(s); after = 5 }\n"
      "probe end { print(after) }");
  session.hit(0);
  EXPECT_EQ(session.number("after"), 0);
  EXPECT_EQ(session.words().error_count, 1u);
}

TEST(Lower, BadAddressRaisesWithTheAddress) {
  SessionOptions options;
  options.targets["bad"] = LocExpr{
      {{LocStep::PushReg, 5}, {LocStep::PushConst, 8}, {LocStep::Add}, {LocStep::Deref, 4, 1}}};
  TestSession session(
      "global r, after\nprobe func(\"f\") { r = $bad; after = 1 }\nprobe end { print(r, after) }",
      options);
  int32_t memory[4] = {1, 2, -3, 4};
  session.hit(0, with_arguments({reinterpret_cast<uint64_t>(memory)}));
  EXPECT_EQ(session.number("r"), -3);
  EXPECT_EQ(session.number("after"), 1);
  session.hit(0, with_arguments({0x10}));
  EXPECT_EQ(session.number("r"), -3);
  EXPECT_EQ(session.words().error_count, 1u);
}

TEST(Lower, HostHandlersShareTheArena) {
  TestSession session(
      "global n, big\nprobe func(\"f\") { n++ }\nprobe end { big = n * 100; for (i = 0; i < 5000; "
      "i++) n++ }");
  session.hit(0);
  session.run_host(1);
  EXPECT_EQ(session.number("big"), 100);
  EXPECT_EQ(session.number("n"), 5001);  // more back edges than a handler in the target may take
}

}  // namespace
}  // namespace dj
