// SPDX-License-Identifier: Apache-2.0
// soft_double.h computes with doubles as words of bits: the arithmetic of IEEE 754 in integer
// registers, because neither the agent nor handlers may touch vector registers. It rounds to
// nearest, ties to even.
#pragma once
#include <stdint.h>

namespace dj::abi {

// The same number: float's bits as double's.
inline uint64_t double_of_float(uint32_t bits) {
  uint64_t sign = static_cast<uint64_t>(bits >> 31) << 63;
  uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  if (exponent == 0xff) return sign | 0x7ffull << 52 | static_cast<uint64_t>(fraction) << 29;
  if (exponent == 0 && fraction == 0) return sign;
  int32_t power = static_cast<int32_t>(exponent);
  if (exponent == 0) {  // subnormal: a normal double
    power = 1;
    while ((fraction & 0x800000) == 0) {
      fraction <<= 1;
      --power;
    }
    fraction &= 0x7fffff;
  }
  uint64_t widened = static_cast<uint64_t>(power + 1023 - 127);
  return sign | widened << 52 | static_cast<uint64_t>(fraction) << 29;
}

// Exactly what the machine's instructions compute, but that every NaN made is the positive one.
uint64_t double_add(uint64_t a, uint64_t b);
uint64_t double_subtract(uint64_t a, uint64_t b);
uint64_t double_multiply(uint64_t a, uint64_t b);
uint64_t double_divide(uint64_t a, uint64_t b);
uint64_t double_square_root(uint64_t a);

inline uint64_t double_negate(uint64_t a) { return a ^ 1ull << 63; }

// A number in the order of doubles: of negative ones the larger bits are the smaller double.
inline int64_t double_order(uint64_t bits) {
  auto value = static_cast<int64_t>(bits);
  return value < 0 ? INT64_MIN - value : value;
}

// Of two numbers: -1, 0 or 1; kUnordered when one is a NaN.
constexpr int32_t kUnordered = 2;
int32_t double_compare(uint64_t a, uint64_t b);

uint64_t double_of_int(int64_t value);
uint64_t double_of_unsigned(uint64_t value);
uint32_t float_of_double(uint64_t value);  // rounded; the bits of a float

enum class Rounding : uint8_t {
  Down,     // floor()
  Up,       // ceil()
  ToZero,   // trunc()
  Nearest,  // round(): halves away from zero
};
// The nearest end of the range where the whole number does not fit; 0 of a NaN.
int64_t int_of_double(uint64_t value, Rounding rounding);
uint64_t unsigned_of_double(uint64_t value);  // the same, cut; 0 of a negative one

// The x87's 80 bits, rounded: mantissa with its explicit first bit, sign and exponent.
uint64_t double_of_extended(uint64_t mantissa, uint16_t sign_exponent);

}  // namespace dj::abi
