// Doubles as words of bits: the arithmetic of IEEE 754 in integer registers, because neither the
// agent nor handlers may touch vector registers. Rounds to nearest, ties to even.
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

}  // namespace dj::abi
