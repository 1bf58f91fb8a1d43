// SPDX-License-Identifier: Apache-2.0
// ctime(): a moment as UTC text, like "Wed Jun 30 21:49:08 1993".
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

constexpr int64_t kDaySeconds = 86'400;
constexpr int64_t kDaysBeforeEpoch = 719'162;  // from 1 January of year 1
constexpr int64_t kDaysToYear10000 = 3'652'059;
// A year, and what repeats in the Gregorian calendar.
constexpr int64_t kYear = 365, k4Years = 1'461, k100Years = 36'524, k400Years = 146'097;

void put_number(char* to, uint32_t digits, int64_t value) {
  for (uint32_t i = digits; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
}
void put_name(char* to, const char* names, int64_t index) {
  for (int i = 0; i < 3; ++i) to[i] = names[3 * index + i];
}

// Writes the year and takes its days off: what is left is the day of the year.
bool put_year(char* to, int64_t* days) {
  int64_t cycles = *days / k400Years;
  *days %= k400Years;
  int64_t centuries = *days / k100Years < 3 ? *days / k100Years : 3;  // the fourth is a day longer
  *days -= centuries * k100Years;
  int64_t fours = *days / k4Years;
  *days %= k4Years;
  int64_t years = *days / kYear < 3 ? *days / kYear : 3;  // so is the fourth year
  *days -= years * kYear;
  put_number(to, 4, 400 * cycles + 100 * centuries + 4 * fours + years + 1);
  return years == 3 && (fours != 24 || centuries == 3);
}

const abi::Str* no_date(abi::Context* ctx) {
  constexpr char kText[] = "ctime: the date is not between the years 1 and 9999";
  dj_user_error(ctx, agent::make_string(ctx, kText, sizeof kText - 1));
  return agent::empty_string();
}

}  // namespace

const abi::Str* dj_ctime(abi::Context* ctx, int64_t seconds) {
  constexpr char kDays[] = "MonTueWedThuFriSatSun";
  constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int64_t second = seconds % kDaySeconds, days = seconds / kDaySeconds + kDaysBeforeEpoch;
  if (second < 0) {
    second += kDaySeconds;
    --days;
  }
  if (days < 0 || days >= kDaysToYear10000) return no_date(ctx);
  constexpr uint32_t kLength = 24;
  char text[kLength + 8] = "DAY MON dd hh:mm:ss yyyy";  // a copy of whole words (unaligned.h)
  put_name(text, kDays, days % 7);
  bool leap = put_year(text + 20, &days);
  int64_t month = 0;
  for (;; ++month) {
    bool is_short = month == 3 || month == 5 || month == 8 || month == 10;
    int64_t length = month == 1 ? 28 + leap : 31 - is_short;
    if (days < length) break;
    days -= length;
  }
  put_name(text + 4, kMonths, month);
  put_number(text + 8, 2, days + 1);
  if (days + 1 < 10) text[8] = ' ';
  put_number(text + 11, 2, second / 3600);
  put_number(text + 14, 2, second / 60 % 60);
  put_number(text + 17, 2, second % 60);
  return agent::make_string(ctx, text, kLength);
}
