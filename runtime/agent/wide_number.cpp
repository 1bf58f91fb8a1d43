// SPDX-License-Identifier: Apache-2.0
// Every form is taken apart into sign, power and 128 binary digits, and put together again.
#include "runtime/shared/wide_number.h"

#include "runtime/shared/soft_double.h"

namespace dj::abi {
namespace {

constexpr int32_t kTop = 127;
constexpr Wide kFirst = Wide{1} << kTop;

struct Format {
  int32_t fraction_bits, exponent_bits;
  bool writes_first;  // the digit before the point is written
  int32_t most() const { return (1 << exponent_bits) - 1; }
  int32_t bias() const { return most() >> 1; }
  int32_t sign_at() const { return fraction_bits + writes_first + exponent_bits; }
};

Format format_of(NumberForm form) {
  switch (form) {
    case NumberForm::Half:
      return {10, 5, false};
    case NumberForm::Float:
      return {23, 8, false};
    case NumberForm::Double:
      return {52, 11, false};
    case NumberForm::Extended:
      return {63, 15, true};
    default:
      return {112, 15, false};
  }
}

struct Number {
  enum Kind : uint8_t { Zero, Finite, Infinite, Nan } kind = Zero;
  bool negative = false;
  int32_t power = 0;  // Finite: digits * 2^(power - 127), with bit 127 of digits set
  Wide digits = 0;
};

int32_t leading_zeros(Wide digits) {
  auto high = static_cast<uint64_t>(digits >> 64);
  return high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<uint64_t>(digits));
}

// digits * 2^(power - 127), with any bit of digits the first.
Number normal(bool negative, int32_t power, Wide digits) {
  if (digits == 0) return {Number::Zero, negative, 0, 0};
  int32_t zeros = leading_zeros(digits);
  return {Number::Finite, negative, power - zeros, digits << zeros};
}

// Shifted right; the lowest bit tells whether a bit that is gone was set.
Wide shift_sticky(Wide digits, int32_t count) {
  if (count == 0) return digits;
  if (count > kTop) return digits != 0;
  return digits >> count | (digits << (128 - count) != 0);
}

Number take_apart(NumberForm form, Wide bits) {
  if (form == NumberForm::Unsigned) bits = static_cast<uint64_t>(bits);
  if (form == NumberForm::Signed) bits = static_cast<Wide>(static_cast<int64_t>(bits));
  if (!is_floating(form)) {
    bool is_signed = form == NumberForm::Signed || form == NumberForm::WideSigned;
    bool negative = is_signed && (bits & kFirst) != 0;
    Number number = normal(negative, kTop, negative ? 0 - bits : bits);
    number.negative = negative;
    return number;
  }
  const Format f = format_of(form);
  const bool negative = (bits >> f.sign_at() & 1) != 0;
  const Wide fraction = bits & ((Wide{1} << f.fraction_bits) - 1);
  const int32_t exponent =
      static_cast<int32_t>(bits >> (f.fraction_bits + f.writes_first)) & f.most();
  if (exponent == f.most()) return {fraction == 0 ? Number::Infinite : Number::Nan, negative, 0, 0};
  const Wide first = f.writes_first ? bits >> f.fraction_bits & 1 : exponent != 0;
  const Wide digits = (first << f.fraction_bits | fraction) << (kTop - f.fraction_bits);
  return normal(negative, (exponent == 0 ? 1 : exponent) - f.bias(), digits);
}

Wide put_floating(const Format& f, const Number& n) {
  Wide exponent = 0, fraction = 0;
  if (n.kind == Number::Infinite || n.kind == Number::Nan) {
    exponent = static_cast<Wide>(f.most());
    fraction = n.kind == Number::Nan ? Wide{1} << (f.fraction_bits - 1) : 0;
  } else if (n.kind == Number::Finite) {
    int32_t field = n.power + f.bias();
    Wide digits = n.digits;
    if (field <= 0) {  // subnormal
      digits = shift_sticky(digits, 1 - field);
      field = 1;
    }
    const int32_t dropped = kTop - f.fraction_bits;
    const Wide half = Wide{1} << (dropped - 1);
    const Wide rest = digits & (2 * half - 1);
    Wide kept = digits >> dropped;
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    // The first bit of `kept`, where it is set, is one more in the exponent, and so is its
    // overflow.
    exponent = static_cast<Wide>(field - 1) + (kept >> f.fraction_bits);
    fraction = kept & ((Wide{1} << f.fraction_bits) - 1);
    if (exponent >= static_cast<Wide>(f.most())) {
      exponent = static_cast<Wide>(f.most());
      fraction = 0;
    }
  }
  const Wide first = f.writes_first && exponent != 0;
  return static_cast<Wide>(n.negative) << f.sign_at() |
         exponent << (f.fraction_bits + f.writes_first) | first << f.fraction_bits | fraction;
}

Wide put_whole(NumberForm form, const Number& n) {
  const bool is_signed = form == NumberForm::Signed || form == NumberForm::WideSigned;
  const int32_t bits = (is_wide(form) ? 128 : 64) - is_signed;
  const Wide most = bits == 128 ? ~Wide{0} : (Wide{1} << bits) - 1;
  const Wide least = is_signed ? ~most : 0;
  if (n.kind == Number::Zero || n.kind == Number::Nan) return 0;
  if (n.negative && !is_signed) return 0;
  if (n.kind == Number::Infinite || n.power >= bits) return n.negative ? least : most;
  const Wide whole = n.power < 0 ? 0 : n.digits >> (kTop - n.power);
  return n.negative ? 0 - whole : whole;
}

Wide put_together(NumberForm form, const Number& n) {
  return is_floating(form) ? put_floating(format_of(form), n) : put_whole(form, n);
}

Number not_a_number() { return {Number::Nan, false, 0, 0}; }

bool is_less(const Number& a, const Number& b) {  // of two that are finite, without their signs
  return a.power < b.power || (a.power == b.power && a.digits < b.digits);
}

int32_t sign_of(const Number& n) { return n.kind == Number::Zero ? 0 : n.negative ? -1 : 1; }

Number add(Number a, Number b) {
  if (a.kind == Number::Nan || b.kind == Number::Nan) return not_a_number();
  if (a.kind == Number::Infinite)
    return b.kind == Number::Infinite && a.negative != b.negative ? not_a_number() : a;
  if (b.kind == Number::Infinite) return b;
  if (a.kind == Number::Zero && b.kind == Number::Zero) {
    a.negative &= b.negative;  // -0 only of two of them
    return a;
  }
  if (a.kind == Number::Zero) return b;
  if (b.kind == Number::Zero) return a;
  if (is_less(a, b)) {
    const Number swapped = a;
    a = b;
    b = swapped;
  }
  const Wide large = a.digits >> 1, small = shift_sticky(b.digits >> 1, a.power - b.power);
  const Wide sum = a.negative == b.negative ? large + small : large - small;
  return sum == 0 ? Number{} : normal(a.negative, a.power + 1, sum);
}

// The upper half of the product; its lowest bit tells whether a bit of the lower half was set.
Wide product(Wide a, Wide b) {
  const auto a0 = static_cast<uint64_t>(a), a1 = static_cast<uint64_t>(a >> 64);
  const auto b0 = static_cast<uint64_t>(b), b1 = static_cast<uint64_t>(b >> 64);
  const Wide low = Wide{a0} * b0, cross = Wide{a1} * b0, other = Wide{a0} * b1;
  const Wide middle = (low >> 64) + static_cast<uint64_t>(cross) + static_cast<uint64_t>(other);
  const Wide high = Wide{a1} * b1 + (cross >> 64) + (other >> 64) + (middle >> 64);
  return high | (static_cast<uint64_t>(low) != 0 || static_cast<uint64_t>(middle) != 0);
}

Number multiply(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Nan || b.kind == Number::Nan) return not_a_number();
  if (a.kind == Number::Infinite || b.kind == Number::Infinite) {
    const bool zero = a.kind == Number::Zero || b.kind == Number::Zero;
    return zero ? not_a_number() : Number{Number::Infinite, negative, 0, 0};
  }
  if (a.kind == Number::Zero || b.kind == Number::Zero) return {Number::Zero, negative, 0, 0};
  return normal(negative, a.power + b.power + 1, product(a.digits, b.digits));
}

Number divide(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Number::Nan || b.kind == Number::Nan ||
      (a.kind == b.kind && a.kind != Number::Finite))
    return not_a_number();
  if (a.kind == Number::Infinite || b.kind == Number::Zero)
    return {Number::Infinite, negative, 0, 0};
  if (a.kind == Number::Zero || b.kind == Number::Infinite) return {Number::Zero, negative, 0, 0};
  Wide rest = a.digits >> 1, quotient = 0;  // room for one bit more
  const Wide divisor = b.digits >> 1;
  for (int32_t bit = 0; bit < 127; ++bit) {
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
    rest <<= 1;
  }
  return normal(negative, a.power - b.power, quotient << 1 | (rest != 0));
}

Wide divide_whole(Wide a, Wide b, bool want_rest) {
  Wide rest = 0, quotient = 0;
  for (int32_t bit = kTop; bit >= 0; --bit) {
    const bool carry = (rest & kFirst) != 0;
    rest = rest << 1 | (a >> bit & 1);
    if (carry || rest >= b) {
      rest -= b;
      quotient |= Wide{1} << bit;
    }
  }
  return want_rest ? rest : quotient;
}

Wide divide_whole(NumberForm form, Wide a, Wide b, bool want_rest) {
  if (b == 0) return 0;
  const bool is_signed = form == NumberForm::WideSigned;
  const bool a_negative = is_signed && (a & kFirst) != 0,
             b_negative = is_signed && (b & kFirst) != 0;
  const Wide result = divide_whole(a_negative ? 0 - a : a, b_negative ? 0 - b : b, want_rest);
  return a_negative != (b_negative && !want_rest) ? 0 - result : result;
}

}  // namespace

Wide convert_number(NumberForm from, NumberForm to, Wide bits) {
  return put_together(to, take_apart(from, bits));
}

Wide wide_compute(NumberForm form, WideOp op, Wide a, Wide b) {
  if (!is_floating(form)) return divide_whole(form, a, b, op == WideOp::Mod);
  const Number x = take_apart(form, a);
  Number y = take_apart(form, b);
  switch (op) {
    case WideOp::Sub:
      y.negative = !y.negative;
      return put_together(form, add(x, y));
    case WideOp::Mul:
      return put_together(form, multiply(x, y));
    case WideOp::Div:
      return put_together(form, divide(x, y));
    default:
      return put_together(form, add(x, y));
  }
}

int32_t wide_compare(NumberForm form, Wide a, Wide b) {
  const Number x = take_apart(form, a), y = take_apart(form, b);
  if (x.kind == Number::Nan || y.kind == Number::Nan) return kUnordered;
  const int32_t x_sign = sign_of(x), y_sign = sign_of(y);
  if (x_sign != y_sign) return x_sign < y_sign ? -1 : 1;
  if (x.kind == y.kind && x.kind != Number::Finite) return 0;
  const bool below = x.kind != y.kind ? y.kind == Number::Infinite : is_less(x, y);
  const bool above = x.kind != y.kind ? !below : is_less(y, x);
  return below ? -x_sign : above ? x_sign : 0;
}

}  // namespace dj::abi
