// SPDX-License-Identifier: Apache-2.0
// The arithmetic of IEEE 754 doubles in integer registers.
#include "runtime/shared/soft_double.h"

namespace dj::abi {
namespace {

constexpr uint64_t kSign = 1ull << 63;
constexpr uint64_t kInfinity = 0x7ffull << 52;
constexpr uint64_t kNan = 0x7ff8ull << 48;
constexpr int32_t kBias = 1023, kTop = 63;

bool is_nan(uint64_t a) { return (a & ~kSign) > kInfinity; }
bool is_infinite(uint64_t a) { return (a & ~kSign) == kInfinity; }
bool is_zero(uint64_t a) { return (a & ~kSign) == 0; }

// A finite number but 0: digits * 2^(power - 63), with bit 63 of digits set.
struct Parts {
  uint64_t sign;
  int32_t power;
  uint64_t digits;
};

Parts take_apart(uint64_t a) {
  auto exponent = static_cast<int32_t>(a >> 52 & 0x7ff);
  uint64_t digits = a << 11;
  if (exponent != 0) return {a & kSign, exponent - kBias, digits | kSign};
  auto zeros = static_cast<int32_t>(__builtin_clzll(digits));
  return {a & kSign, 1 - kBias - zeros, digits << zeros};
}

// Shifted right; the lowest bit tells whether a bit that is gone was set.
uint64_t shift_sticky(uint64_t digits, int32_t count) {
  if (count == 0) return digits;
  if (count > kTop) return digits != 0;
  return digits >> count | (digits << (64 - count) != 0);
}

// Rounds to nearest, ties to even. Bit 63 of digits is set. The bits of a number of that format,
// but its sign.
uint64_t put_together(Parts p, int32_t bias, int32_t fraction_bits) {
  int32_t exponent = p.power + bias, most = 2 * bias + 1, dropped = kTop - fraction_bits;
  if (exponent >= most) return static_cast<uint64_t>(most) << fraction_bits;
  if (exponent <= 0) {  // subnormal
    p.digits = shift_sticky(p.digits, 1 - exponent);
    exponent = 1;
  }
  uint64_t half = 1ull << (dropped - 1);
  uint64_t kept = p.digits >> dropped, rest = p.digits & (2 * half - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The first bit of `kept`, where it is set, is one more in the exponent, and so is its overflow.
  return (static_cast<uint64_t>(exponent - 1) << fraction_bits) + kept;
}

uint64_t put_together(Parts p) { return p.sign | put_together(p, kBias, 52); }

uint64_t put_normal(uint64_t sign, int32_t power, uint64_t digits) {
  auto zeros = static_cast<int32_t>(__builtin_clzll(digits));
  return put_together({sign, power - zeros, digits << zeros});
}

}  // namespace

uint64_t double_add(uint64_t a, uint64_t b) {
  if (is_nan(a) || is_nan(b)) return kNan;
  if (is_infinite(a)) return is_infinite(b) && a != b ? kNan : a;
  if (is_infinite(b)) return b;
  if (is_zero(a)) return is_zero(b) ? a & b : b;  // -0 only of two of them
  if (is_zero(b)) return a;
  Parts x = take_apart(a), y = take_apart(b);
  if (x.power < y.power || (x.power == y.power && x.digits < y.digits)) {
    Parts swapped = x;
    x = y;
    y = swapped;
  }
  uint64_t large = x.digits >> 1, small = shift_sticky(y.digits >> 1, x.power - y.power);
  uint64_t sum = x.sign == y.sign ? large + small : large - small;
  return sum == 0 ? 0 : put_normal(x.sign, x.power + 1, sum);
}

uint64_t double_subtract(uint64_t a, uint64_t b) { return double_add(a, double_negate(b)); }

uint64_t double_multiply(uint64_t a, uint64_t b) {
  uint64_t sign = (a ^ b) & kSign;
  if (is_nan(a) || is_nan(b)) return kNan;
  if (is_infinite(a) || is_infinite(b)) return is_zero(a) || is_zero(b) ? kNan : sign | kInfinity;
  if (is_zero(a) || is_zero(b)) return sign;
  Parts x = take_apart(a), y = take_apart(b);
  auto product = static_cast<unsigned __int128>(x.digits) * y.digits;
  auto high = static_cast<uint64_t>(product >> 64), low = static_cast<uint64_t>(product);
  return put_normal(sign, x.power + y.power + 1, high | (low != 0));
}

uint64_t double_divide(uint64_t a, uint64_t b) {
  uint64_t sign = (a ^ b) & kSign;
  if (is_nan(a) || is_nan(b)) return kNan;
  if (is_infinite(a)) return is_infinite(b) ? kNan : sign | kInfinity;
  if (is_infinite(b)) return sign;
  if (is_zero(b)) return is_zero(a) ? kNan : sign | kInfinity;
  if (is_zero(a)) return sign;
  Parts x = take_apart(a), y = take_apart(b);
  uint64_t rest = x.digits >> 11, divisor = y.digits >> 11, quotient = 0;
  int32_t power = x.power - y.power;
  if (rest < divisor) {
    rest <<= 1;
    --power;
  }
  for (int32_t bit = 0; bit < 63; ++bit) {
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
    rest <<= 1;
  }
  return put_together({sign, power, quotient << 1 | (rest != 0)});
}

uint64_t double_square_root(uint64_t a) {
  if (is_zero(a) || a == kInfinity) return a;
  if (is_nan(a) || (a & kSign) != 0) return kNan;
  Parts x = take_apart(a);
  uint64_t digits = x.digits >> 11;  // the value is digits * 2^(power - 52)
  if ((x.power & 1) != 0) {
    digits <<= 1;
    --x.power;
  }
  // 55 binary digits of the root, by hand: two of the number, zeros behind them, for each.
  uint64_t root = 0, rest = 0;
  for (int32_t at = 52; at > -58; at -= 2) {
    uint64_t pair = at >= 0 ? digits >> at & 3 : 0;
    rest = rest << 2 | pair;
    uint64_t trial = root << 2 | 1;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  return put_together({0, x.power / 2, root << 9 | (rest != 0)});
}

int32_t double_compare(uint64_t a, uint64_t b) {
  if (is_nan(a) || is_nan(b)) return kUnordered;
  if (is_zero(a) && is_zero(b)) return 0;
  int64_t x = double_order(a), y = double_order(b);
  return x < y ? -1 : x > y;
}

uint64_t double_of_int(int64_t value) {
  if (value == 0) return 0;
  uint64_t digits = static_cast<uint64_t>(value), sign = digits & kSign;
  return put_normal(sign, kTop, sign != 0 ? 0 - digits : digits);
}

uint64_t double_of_unsigned(uint64_t value) { return value == 0 ? 0 : put_normal(0, kTop, value); }

uint32_t float_of_double(uint64_t value) {
  constexpr int32_t kFloatBias = 127, kFloatFraction = 23;
  constexpr uint32_t kFloatInfinity = 0x7f800000, kFloatNan = 0x7fc00000;
  auto sign = static_cast<uint32_t>((value & kSign) >> 32);
  if (is_nan(value)) return sign | kFloatNan;
  if (is_infinite(value)) return sign | kFloatInfinity;
  if (is_zero(value)) return sign;
  return sign | static_cast<uint32_t>(put_together(take_apart(value), kFloatBias, kFloatFraction));
}

uint64_t unsigned_of_double(uint64_t value) {
  if (is_nan(value) || is_zero(value) || (value & kSign) != 0) return 0;
  if (is_infinite(value)) return UINT64_MAX;
  Parts p = take_apart(value);
  if (p.power > kTop) return UINT64_MAX;
  return p.power < 0 ? 0 : p.digits >> (kTop - p.power);
}

int64_t int_of_double(uint64_t value, Rounding rounding) {
  if (is_nan(value) || is_zero(value)) return 0;
  const bool negative = (value & kSign) != 0;
  const int64_t end = negative ? INT64_MIN : INT64_MAX;
  if (is_infinite(value)) return end;
  Parts p = take_apart(value);
  if (p.power > 62) return end;
  // Behind the point 63 bits, the last of them sticky.
  uint64_t whole = p.power < 0 ? 0 : p.digits >> (kTop - p.power);
  uint64_t part = p.power < 0 ? shift_sticky(p.digits, -1 - p.power) : p.digits << 1 << p.power;
  bool up = false;
  switch (rounding) {
    case Rounding::Down:
      up = negative && part != 0;
      break;
    case Rounding::Up:
      up = !negative && part != 0;
      break;
    case Rounding::ToZero:
      break;
    case Rounding::Nearest:
      up = part >> 63 != 0;
      break;
  }
  whole += up;
  if (whole > static_cast<uint64_t>(INT64_MAX)) return end;
  return negative ? -static_cast<int64_t>(whole) : static_cast<int64_t>(whole);
}

uint64_t double_of_extended(uint64_t mantissa, uint16_t sign_exponent) {
  uint64_t sign = static_cast<uint64_t>(sign_exponent >> 15) << 63;
  int32_t exponent = sign_exponent & 0x7fff;
  if (exponent == 0x7fff) return mantissa << 1 == 0 ? sign | kInfinity : kNan;
  if (mantissa == 0) return sign;
  return put_normal(sign, (exponent == 0 ? 1 : exponent) - 16383, mantissa);
}

}  // namespace dj::abi
