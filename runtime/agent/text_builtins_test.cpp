// SPDX-License-Identifier: Apache-2.0
// Built-ins with arithmetic of their own: dates against gmtime, byte orders against libc, quoting
// at its limits.
#include <arpa/inet.h>
#include <endian.h>
#include <time.h>

#include <random>
#include <set>

#include "runtime/agent/arena_support.h"
#include "stdlib/entries.h"

namespace dj {
namespace {

class TextBuiltins : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    ctx = dj_enter(0);
    ASSERT_NE(ctx, nullptr);
  }
  static int64_t address(const void* p) { return reinterpret_cast<int64_t>(p); }
  abi::Context* ctx = nullptr;
};

std::string libc_date(time_t seconds) {
  tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%a %b %e %H:%M:%S ", &parts);
  char year[32];
  snprintf(year, sizeof year, "%04d", parts.tm_year + 1900);
  return std::string(text) + year;
}

constexpr int64_t kFirst = -62'135'596'800, kLast = 253'402'300'799;  // years 1 to 9999

TEST_F(TextBuiltins, DatesAreLibcs) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> moments(kFirst, kLast);
  for (int64_t fixed : {int64_t{0}, int64_t{-1}, kFirst, kLast})
    EXPECT_EQ(text(dj_ctime(ctx, fixed)), libc_date(fixed));
  for (int i = 0; i < 2000; ++i) {
    ctx->scratch_used = 0;
    int64_t moment = moments(random);
    ASSERT_EQ(text(dj_ctime(ctx, moment)), libc_date(moment)) << moment;
  }
  for (int64_t day = int64_t{-200} * 366; day < int64_t{240} * 366;
       ++day) {  // every day from 1770 to 2210
    ctx->scratch_used = 0;
    ASSERT_EQ(text(dj_ctime(ctx, day * 86'400)), libc_date(day * 86'400)) << day;
  }
  EXPECT_EQ(ctx->raised, 0u);
  for (int64_t outside : {kFirst - 1, kLast + 1, INT64_MIN, INT64_MAX}) {
    ctx->raised = 0;
    EXPECT_EQ(text(dj_ctime(ctx, outside)), "");
    EXPECT_EQ(ctx->raised, 1u) << outside;
  }
}

TEST_F(TextBuiltins, BytesAreSwappedAsByLibc) {
  for (int64_t value : {int64_t{0}, int64_t{0x1234}, int64_t{0x89abcdef}, int64_t{-2}, INT64_MIN}) {
    EXPECT_EQ(dj_swap16(value), htons(static_cast<uint16_t>(value)));
    EXPECT_EQ(dj_swap32(value), htonl(static_cast<uint32_t>(value)));
    EXPECT_EQ(dj_swap64(value), static_cast<int64_t>(htobe64(static_cast<uint64_t>(value))));
  }
}

TEST_F(TextBuiltins, RandomNumbersAreSpread) {
  int64_t counts[10] = {};
  for (int i = 0; i < 100'000; ++i) {
    int64_t number = dj_randint(10);
    ASSERT_TRUE(number >= 0 && number < 10);
    ++counts[number];
  }
  for (int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10'000, 1'000);
  EXPECT_EQ(dj_randint(1), 0);
  EXPECT_EQ(dj_randint(0), 0);
  EXPECT_EQ(dj_randint(-5), 0);
}

TEST_F(TextBuiltins, ReplacesAndCuts) {
  auto replace = [&](const char* a, const char* b, const char* c) {
    return text(dj_str_replace(ctx, str(a), str(b), str(c)));
  };
  EXPECT_EQ(replace("aaaa", "aa", "b"), "bb");
  EXPECT_EQ(replace("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replace("abc", "", "x"), "abc");
  EXPECT_EQ(replace("abc", "abc", ""), "");
  EXPECT_EQ(replace("ab", "abc", "x"), "ab");
  EXPECT_EQ(words().skipped[abi::kSkipStringCut], 0u);
  std::string long_one(20, 'a');
  EXPECT_EQ(replace(long_one.c_str(), "a", "12345").size(), 64u);
  EXPECT_EQ(words().skipped[abi::kSkipStringCut], 1u);
}

TEST_F(TextBuiltins, QuotesWithinTheLimit) {
  auto quote = [&](std::string_view s, int64_t n) { return text(dj_text_strn(ctx, str(s), n, 1)); };
  EXPECT_EQ(quote("hello", 0), "\"hello\"");
  EXPECT_EQ(quote("hello", 7), "\"hello\"");
  EXPECT_EQ(quote("hello!", 7), "\"he\"...");
  EXPECT_EQ(quote("hello!", 1), "\"\"...");
  EXPECT_EQ(quote("a\nbcdefg", 8), "\"a\\n\"...") << "no escape is cut in two";
  EXPECT_EQ(text(dj_text_strn(ctx, str("hello"), 3, 0)), "hel");
  std::string sixty(62, 'x');
  EXPECT_EQ(quote(sixty, 0), '"' + sixty + '"');
  EXPECT_EQ(quote(sixty + "x", 0), '"' + std::string(59, 'x') + "\"...");
  EXPECT_EQ(text(dj_text_str(ctx, str("\x01\t\"\\\x7f\xff"))), "\\001\\t\\\"\\\\\\177\\377");
}

TEST_F(TextBuiltins, UserTextStopsAtFaults) {
  auto* pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  memcpy(pages + 4092, "end", 4);
  EXPECT_EQ(text(dj_user_string_quoted(ctx, address(pages + 4092))), "\"end\"");
  EXPECT_EQ(text(dj_user_string_n_quoted(ctx, address(pages + 4092), 2)), "\"en\"...");
  EXPECT_EQ(text(dj_user_string_n_quoted(ctx, address(pages + 4092), 3)), "\"end\"");
  pages[4095] = '!';
  EXPECT_EQ(text(dj_user_string_n_quoted(ctx, address(pages + 4092), 4)), "\"end!\"");
  EXPECT_EQ(text(dj_user_string_n2_quoted(ctx, address(pages + 4092), 4, 6)), "\"end!\"");
  EXPECT_EQ(text(dj_user_string_n2_quoted(ctx, address(pages + 4092), 4, 5)), "\"\"...");
  pages[4093] = '\0';
  EXPECT_EQ(text(dj_user_buffer_quoted(ctx, address(pages + 4092), 4, 99)), "\"e\\000d!\"");
  EXPECT_EQ(text(dj_user_buffer_quoted(ctx, address(pages + 4092), 4, 8)), "\"e\"...");
  EXPECT_EQ(text(dj_user_string_n2_quoted(ctx, address(pages + 4092), 4, 99)), "\"e\"");
  pages[4093] = 'n';
  char bad[32];
  snprintf(bad, sizeof bad, "%p", static_cast<void*>(pages + 4092));
  EXPECT_EQ(text(dj_user_string_quoted(ctx, address(pages + 4092))), bad);
  EXPECT_EQ(text(dj_user_string_quoted(ctx, 0)), "0x0");
  EXPECT_EQ(text(dj_user_string2(ctx, address(pages + 4092), str("none"))), "none");
  EXPECT_EQ(text(dj_user_string_n2(ctx, address(pages + 4092), 4, str("none"))), "end!");
  EXPECT_EQ(ctx->raised, 0u);
  EXPECT_EQ(dj_user_int8(ctx, address(pages + 4095)), '!');
  EXPECT_EQ(ctx->raised, 0u);
  EXPECT_EQ(dj_user_int16(ctx, address(pages + 4095)), 0);
  EXPECT_EQ(ctx->raised, 1u);
  munmap(pages, 8192);
}

}  // namespace
}  // namespace dj
