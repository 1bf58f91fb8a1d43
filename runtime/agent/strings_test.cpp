// SPDX-License-Identifier: Apache-2.0
// Strings and formats, against libc's snprintf and strtol.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/format.h"
#include "stdlib/entries.h"

namespace dj {
namespace {

class Strings : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    ctx = dj_enter(0);
    ASSERT_NE(ctx, nullptr);
  }
  std::string format(std::string_view form, std::vector<uint64_t> args) {
    return text(dj_sprintf(ctx, str(form), args.data(), static_cast<uint32_t>(args.size())));
  }
  abi::Context* ctx = nullptr;
};

TEST_F(Strings, FormatsNumbersAsLibc) {
  const char* flags[] = {"", "-", "0", "+", " ", "#", "-#", "+0", "#0"};
  const char* widths[] = {"", "5", "12", ".4", "9.3", ".0"};
  for (const char* flag : flags) {
    for (const char* width : widths) {
      for (char letter : std::string("diuxXo")) {
        for (int64_t value :
             {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{255}, INT64_MAX, INT64_MIN}) {
          std::string form = std::string("<%") + flag + width;
          char expected[64];
          // As in SystemTap, the prefix of "#" stands before 0, too.
          if (value == 0 && (letter | 32) == 'x' && form.find('#') != std::string::npos) continue;
          snprintf(expected, sizeof expected, (form + "l" + letter + ">").c_str(), value);
          EXPECT_EQ(format(form + letter + ">", {static_cast<uint64_t>(value)}), expected)
              << form << letter;
        }
      }
    }
  }
}

// Short texts take less of the memory than its table has places: the table stays one in which a
// text that is not there is found missing soon, and knows all that it has.
TEST_F(Strings, ManyShortTextsLeaveRoomInTheTable) {
  const uint64_t slots = strings().slot_mask + 1;
  std::vector<std::pair<std::string, const abi::Str*>> kept;
  for (uint64_t i = 0; i < 2 * slots; ++i) {
    std::string word = std::to_string(i);
    const abi::Str* made =
        abi::strings_intern(&header(), word.data(), static_cast<uint32_t>(word.size()));
    if (made != nullptr) kept.emplace_back(word, made);
  }
  EXPECT_EQ(kept.size(), slots / 4 * 3);
  EXPECT_EQ(string_words().dropped, 2 * slots - kept.size());
  for (const auto& [word, made] : kept)
    EXPECT_EQ(abi::strings_intern(&header(), word.data(), static_cast<uint32_t>(word.size())),
              made);
}

TEST_F(Strings, FormatsTheRest) {
  auto word = [&](std::string_view s) { return reinterpret_cast<uint64_t>(str(s)); };
  EXPECT_EQ(format("%p %c%c 100%%", {0x1f, 'a', 'b'}), "0x1f ab 100%");
  EXPECT_EQ(
      format("[%5s|%-5s|%.2s|%*.*s]", {word("abc"), word("abc"), word("abc"), 4, 1, word("xyz")}),
      "[  abc|abc  |ab|   x]");
  EXPECT_EQ(format("%*d|", {static_cast<uint64_t>(-4), 7}), "7   |");
  EXPECT_EQ(format("%lld %s", {5, word("")}), "5 ");
  EXPECT_EQ(format("%d %d", {1}), "1 ") << "a missing argument ends the text";
  EXPECT_EQ(format("ends in %", {}), "ends in ");
}

TEST_F(Strings, LongOnesAreCutAndCounted) {
  std::string sixty(60, 'x');
  const abi::Str* both = dj_str_concat(ctx, str(sixty), str("123456"));
  EXPECT_EQ(text(both), sixty + "1234");
  EXPECT_EQ(words().skipped[abi::kSkipStringCut], 1u);
  EXPECT_EQ(format("%100d", {1}).size(), 64u);
  EXPECT_EQ(words().skipped[abi::kSkipStringCut], 2u);
}

TEST_F(Strings, ScratchGoesOverIntoInternedOnes) {
  std::set<std::string> made;
  std::vector<std::pair<const abi::Str*, std::string>> all;
  for (int i = 0; i < 5000; ++i) {
    std::string wanted = "number " + std::to_string(i);
    uint64_t arg = static_cast<uint64_t>(i);
    all.emplace_back(dj_sprintf(ctx, str("number %d"), &arg, 1), wanted);
  }
  for (auto& [string, wanted] : all) ASSERT_EQ(text(string), wanted);
}

TEST_F(Strings, InterningGivesOneAddress) {
  std::vector<std::vector<const abi::Str*>> seen(4);
  std::vector<const abi::Str*> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back(str("text" + std::to_string(i)));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([&, t] {
      for (const abi::Str* s : texts) seen[t].push_back(dj_intern(s));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(text(seen[0][i]), text(texts[i]));
    for (size_t t = 1; t < seen.size(); ++t) EXPECT_EQ(seen[t][i], seen[0][i]);
  }
  EXPECT_EQ(dj_intern(seen[0][7]), seen[0][7]);
  EXPECT_EQ(dj_intern(str("")), dj_intern(str("")));
}

// Two threads want the same slot, and the same room, at the same moment, again and again.
TEST_F(Strings, OneAddressAndOneTextForTwoWhoComeAtOnce) {
  constexpr size_t kThreads = 2, kTexts = 4000;
  std::vector<const abi::Str*> texts;
  for (size_t i = 0; i < kTexts; ++i) texts.push_back(str("text of two " + std::to_string(i)));
  std::vector<std::vector<const abi::Str*>> seen(kThreads, std::vector<const abi::Str*>(kTexts));
  std::atomic<size_t> come = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kTexts; ++i) {
        ++come;
        while (come < kThreads * (i + 1)) continue;
        seen[t][i] = dj_intern(texts[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<const abi::Str*> addresses;
  for (size_t i = 0; i < kTexts; ++i) {
    ASSERT_EQ(text(seen[0][i]), text(texts[i]));
    ASSERT_EQ(seen[0][i], seen[1][i]) << i;
    addresses.insert(seen[0][i]);
  }
  EXPECT_EQ(addresses.size(), kTexts);
}

TEST_F(Strings, BudgetIsBoundedAndCounted) {
  for (int i = 0; i < 100'000; ++i) {
    char buffer[64];
    auto* s = reinterpret_cast<abi::Str*>(buffer);
    s->len = static_cast<uint32_t>(snprintf(s->data, 40, "a rather long text number %d", i));
    dj_intern(s);
  }
  EXPECT_GT(words().skipped[abi::kSkipStringBudget], 0u);
  EXPECT_EQ(dj_intern(str("yet another one"))->len, 0u);
}

TEST_F(Strings, ComparesBytewise) {
  EXPECT_EQ(dj_str_equal(str("abc"), str("abc")), 1u);
  EXPECT_EQ(dj_str_equal(str("abc"), str("abd")), 0u);
  EXPECT_LT(dj_str_compare(str("abc"), str("abd")), 0);
  EXPECT_LT(dj_str_compare(str("ab"), str("abc")), 0);
  EXPECT_GT(dj_str_compare(str("\xff"), str("a")), 0);
}

TEST_F(Strings, Builtins) {
  EXPECT_EQ(dj_strlen(str("four")), 4);
  EXPECT_EQ(text(dj_substr(ctx, str("hello"), 1, 3)), "ell");
  EXPECT_EQ(text(dj_substr(ctx, str("hello"), 3, 99)), "lo");
  EXPECT_EQ(text(dj_substr(ctx, str("hello"), -1, 3)), "");
  EXPECT_EQ(text(dj_substr(ctx, str("hello"), 5, 1)), "");
  EXPECT_EQ(dj_isinstr(str("needle in hay"), str("in")), 1);
  EXPECT_EQ(dj_isinstr(str("needle"), str("needles")), 0);
  EXPECT_EQ(dj_isinstr(str("x"), str("")), 1);
}

TEST_F(Strings, StrtolAsLibc) {
  for (const char* number :
       {"0", "12", "-12", "+7", "  42x", "0x1f", "0X1F", "0x", "017", "z", "zz", "", "-",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "99999999999999999999"}) {
    for (int base : {0, 2, 8, 10, 16, 36}) {
      EXPECT_EQ(dj_strtol(str(number), base), strtol(number, nullptr, base))
          << number << " base " << base;
    }
  }
}

TEST_F(Strings, UserStringsStopAtFaults) {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  auto at = [&](uint64_t offset) { return reinterpret_cast<int64_t>(pages + offset); };
  memcpy(pages + 4092, "end", 4);
  EXPECT_EQ(text(dj_user_string(ctx, at(4092))), "end");
  EXPECT_EQ(text(dj_user_string_n(ctx, at(4092), 2)), "en");
  EXPECT_EQ(ctx->raised, 0u);
  pages[4095] = '!';
  EXPECT_EQ(text(dj_user_string(ctx, at(4092))), "");
  EXPECT_EQ(ctx->raised, 1u);
  ctx->raised = 0;
  EXPECT_EQ(text(dj_user_string(ctx, 0)), "");
  EXPECT_EQ(ctx->raised, 1u);
  uint32_t bad;
  EXPECT_EQ(dj_read(reinterpret_cast<uint64_t>(pages + 4092), 4, &bad),
            uint64_t{'!'} << 24 | 'd' << 16 | 'n' << 8 | 'e');
  EXPECT_EQ(bad, 0u);
  dj_read(reinterpret_cast<uint64_t>(pages + 4093), 4, &bad);
  EXPECT_EQ(bad, 1u);
  dj_read(0xdead000000000000, 8, &bad);
  EXPECT_EQ(bad, 1u);
  munmap(pages, 8192);
}

}  // namespace
}  // namespace dj
