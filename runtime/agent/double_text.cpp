// SPDX-License-Identifier: Apache-2.0
// Doubles as decimal text: the exact decimal digits by integer arithmetic, then rounded as asked.
#include "runtime/shared/double_text.h"

namespace dj::abi {
namespace {

constexpr uint32_t kLimbs = 90;  // of 9 digits: 767 digits at most, of the smallest subnormals
constexpr uint32_t kLimb = 1000000000;
constexpr uint32_t kMaxDigits = kLimbs * 9;

// A whole number of many digits, the lowest limb first.
class Big {
 public:
  explicit Big(uint64_t value) {
    for (; value != 0; value /= kLimb) limbs_[count_++] = static_cast<uint32_t>(value % kLimb);
  }
  void multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      carry += static_cast<uint64_t>(limbs_[i]) * factor;
      limbs_[i] = static_cast<uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
    if (carry != 0 && count_ < kLimbs) limbs_[count_++] = static_cast<uint32_t>(carry);
  }
  // times base^power; step: base^step is the largest that is less than a limb.
  void scale(uint32_t base, uint32_t step, uint32_t power) {
    for (; power > 0;) {
      uint32_t factor = 1, taken = 0;
      for (; taken < step && taken < power; ++taken) factor *= base;
      multiply(factor);
      power -= taken;
    }
  }
  // Decimal digits, the highest first, without leading zeros; how many.
  uint32_t digits(char* to) const {
    uint32_t used = 0;
    for (uint32_t i = count_; i-- > 0;) {
      for (uint32_t unit = kLimb / 10; unit != 0; unit /= 10) {
        char digit = static_cast<char>('0' + limbs_[i] / unit % 10);
        if (used != 0 || digit != '0') to[used++] = digit;
      }
    }
    return used;
  }

 private:
  uint32_t limbs_[kLimbs];
  uint32_t count_ = 0;
};

// 0.d1d2d3... * 10^point, exactly.
struct Decimal {
  char digits[kMaxDigits];
  uint32_t count = 0;
  int32_t point = 0;

  char at(int32_t i) const { return i >= 0 && i < static_cast<int32_t>(count) ? digits[i] : '0'; }
  // Keeps the first `keep` digits, rounded to nearest, ties to even.
  void round(int32_t keep) {
    if (keep >= static_cast<int32_t>(count)) return;
    if (keep < 0) {
      count = 0;
      return;
    }
    bool up = digits[keep] > '5';
    if (digits[keep] == '5') {
      bool tie = true;
      for (uint32_t i = static_cast<uint32_t>(keep) + 1; i < count; ++i) tie &= digits[i] == '0';
      up = !tie || (at(keep - 1) & 1) != 0;
    }
    count = static_cast<uint32_t>(keep);
    while (up && count > 0 && digits[count - 1] == '9') --count;  // 0.1999 becomes 0.2
    if (up && count > 0) {
      ++digits[count - 1];
    } else if (up) {
      digits[0] = '1';
      count = 1;
      ++point;
    }
  }
};

void fill(Decimal& decimal, uint64_t bits) {
  uint64_t fraction = bits & 0xfffffffffffffull;
  auto exponent = static_cast<int32_t>(bits >> 52 & 0x7ff);
  if (exponent != 0) fraction |= 1ull << 52;
  int32_t power = (exponent != 0 ? exponent : 1) - 1075;  // the value is fraction * 2^power
  while (power < 0 && fraction != 0 && (fraction & 1) == 0) {
    fraction >>= 1;
    ++power;
  }
  Big big(fraction);
  if (power >= 0) {
    big.scale(2, 29, static_cast<uint32_t>(power));
  } else {  // m / 2^k is m * 5^k / 10^k
    big.scale(5, 12, static_cast<uint32_t>(-power));
  }
  decimal.count = big.digits(decimal.digits);
  decimal.point = static_cast<int32_t>(decimal.count) + (power < 0 ? power : 0);
  if (fraction == 0) decimal.point = 1;
}

uint32_t put_word(char* to, const char* word, bool capital) {
  uint32_t used = 0;
  for (; word[used] != '\0'; ++used) to[used] = static_cast<char>(word[used] - (capital ? 32 : 0));
  return used;
}

// ddd.ddd with `precision` digits behind the point. The decimal is rounded already.
uint32_t put_fixed(char* to, const Decimal& d, uint32_t precision, bool dot) {
  uint32_t used = 0;
  if (d.point <= 0) to[used++] = '0';
  for (int32_t i = 0; i < d.point; ++i) to[used++] = d.at(i);
  if (precision > 0 || dot) to[used++] = '.';
  for (uint32_t i = 0; i < precision; ++i) to[used++] = d.at(d.point + static_cast<int32_t>(i));
  return used;
}

uint32_t put_exponent(char* to, const Decimal& d, uint32_t precision, bool dot, char e) {
  uint32_t used = 0;
  to[used++] = d.at(0);
  if (precision > 0 || dot) to[used++] = '.';
  for (uint32_t i = 1; i <= precision; ++i) to[used++] = d.at(static_cast<int32_t>(i));
  int32_t power = d.point - 1;
  to[used++] = e;
  to[used++] = power < 0 ? '-' : '+';
  if (power < 0) power = -power;
  if (power >= 100) to[used++] = static_cast<char>('0' + power / 100);
  to[used++] = static_cast<char>('0' + power / 10 % 10);
  to[used++] = static_cast<char>('0' + power % 10);
  return used;
}

// %g: `precision` significant digits, zeros at the end left out.
uint32_t put_shorter(char* to, Decimal& d, uint32_t precision, bool alternate, char e) {
  auto wanted = static_cast<int32_t>(precision == 0 ? 1 : precision);
  d.round(wanted);
  int32_t power = d.point - 1;
  int32_t behind = power < -4 || power >= wanted ? wanted - 1 : wanted - 1 - power;
  int32_t last = static_cast<int32_t>(d.count);  // behind the last digit that is not 0
  while (last > 0 && d.digits[last - 1] == '0') --last;
  bool small = power < -4 || power >= wanted;
  int32_t needed = small ? last - 1 : last - d.point;
  if (!alternate && behind > needed) behind = needed < 0 ? 0 : needed;
  return small ? put_exponent(to, d, static_cast<uint32_t>(behind), alternate, e)
               : put_fixed(to, d, static_cast<uint32_t>(behind), alternate);
}

}  // namespace

uint32_t double_text(char* to, uint64_t bits, char letter, uint32_t precision, bool alternate) {
  bool capital = letter < 'a';
  bits &= ~(1ull << 63);
  if (bits >> 52 == 0x7ff) return put_word(to, bits << 12 != 0 ? "nan" : "inf", capital);
  if (precision > kMaxDoublePrecision) precision = kMaxDoublePrecision;
  Decimal decimal;
  fill(decimal, bits);
  char e = capital ? 'E' : 'e';
  switch (letter) {
    case 'e':
    case 'E':
      decimal.round(static_cast<int32_t>(precision) + 1);
      return put_exponent(to, decimal, precision, alternate, e);
    case 'g':
    case 'G':
      return put_shorter(to, decimal, precision, alternate, e);
    default:
      decimal.round(decimal.point + static_cast<int32_t>(precision));
      return put_fixed(to, decimal, precision, alternate);
  }
}

uint32_t short_double_text(char* to, uint64_t bits) {
  uint32_t sign = bits >> 63 != 0;
  if (sign) to[0] = '-';
  return sign + double_text(to + sign, bits, 'g', 6, false);
}

}  // namespace dj::abi
