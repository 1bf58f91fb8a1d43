// SPDX-License-Identifier: Apache-2.0
// Doubles in integer registers, compared with the machine's own arithmetic.
#include "runtime/shared/soft_double.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace dj {
namespace {

using Limits = std::numeric_limits<double>;

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }
double number(uint64_t word) { return std::bit_cast<double>(word); }

bool same(uint64_t ours, double machine) {
  return std::isnan(machine) ? std::isnan(number(ours)) : ours == bits(machine);
}

// Where rounding and range change, and random ones of four kinds: any bits, numbers of like size,
// whole numbers, and those near the smallest.
class Operands {
 public:
  double next() {
    static constexpr double kEdges[] = {0.0,
                                        -0.0,
                                        1.0,
                                        -1.0,
                                        0.5,
                                        1.5,
                                        2.5,
                                        1 + Limits::epsilon(),
                                        1 - Limits::epsilon() / 2,
                                        Limits::min(),
                                        Limits::denorm_min(),
                                        Limits::max(),
                                        -Limits::max(),
                                        Limits::infinity(),
                                        -Limits::infinity(),
                                        Limits::quiet_NaN(),
                                        9007199254740993.0,
                                        4503599627370496.5,
                                        9223372036854775808.0,
                                        -9223372036854775808.0};
    uint64_t word = random_();
    switch (random_() % 5) {
      case 0:
        return kEdges[word % std::size(kEdges)];
      case 1:
        return number(word);
      case 2:  // 2^-8 to 2^8
        return number((word & ~(0x7ffull << 52)) | (1015 + random_() % 16) << 52);
      case 3:
        return static_cast<double>(static_cast<int64_t>(word) >> random_() % 64);
      default:
        return number(word & ~(0x7c0ull << 52));
    }
  }

 private:
  std::mt19937_64 random_{20};
};

TEST(SoftDouble, ComputesAsTheMachineDoes) {
  Operands operands;
  for (int i = 0; i < 3000000; ++i) {
    volatile double a = operands.next(), b = operands.next();
    uint64_t x = bits(a), y = bits(b);
    ASSERT_TRUE(same(abi::double_add(x, y), a + b)) << a << " + " << b;
    ASSERT_TRUE(same(abi::double_subtract(x, y), a - b)) << a << " - " << b;
    ASSERT_TRUE(same(abi::double_multiply(x, y), a * b)) << a << " * " << b;
    ASSERT_TRUE(same(abi::double_divide(x, y), a / b)) << a << " / " << b;
    int32_t order = std::isunordered(a, b) ? abi::kUnordered : a < b ? -1 : a > b;
    ASSERT_EQ(abi::double_compare(x, y), order) << a << " <> " << b;
    ASSERT_TRUE(same(abi::double_square_root(x), std::sqrt(a))) << a;
  }
}

// What llround() and the like leave open: the nearest end, and 0 of a NaN.
int64_t whole(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  if (value < -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(value);
}

TEST(SoftDouble, ConvertsAsTheMachineDoes) {
  Operands operands;
  std::mt19937_64 random(21);
  for (int i = 0; i < 1000000; ++i) {
    auto n = static_cast<int64_t>(random()) >> random() % 64;
    ASSERT_EQ(abi::double_of_int(n), bits(static_cast<double>(n))) << n;
    double a = operands.next();
    if (i % 2 != 0) a = std::nearbyint(a * 2) / 2;  // halves
    using enum abi::Rounding;
    ASSERT_EQ(abi::int_of_double(bits(a), ToZero), whole(std::trunc(a))) << a;
    ASSERT_EQ(abi::int_of_double(bits(a), Down), whole(std::floor(a))) << a;
    ASSERT_EQ(abi::int_of_double(bits(a), Up), whole(std::ceil(a))) << a;
    ASSERT_EQ(abi::int_of_double(bits(a), Nearest), whole(std::round(a))) << a;
  }
}

TEST(SoftDouble, ConvertsFloatsAndUnsignedNumbersAsTheMachineDoes) {
  Operands operands;
  std::mt19937_64 random(23);
  for (int i = 0; i < 1000000; ++i) {
    const double number = operands.next();
    // Half of them near what a float can be, subnormal ones and overflow among them.
    const volatile double a = i % 2 == 0 ? number
                                         : std::ldexp(1 + number - std::trunc(number),
                                                      static_cast<int>(random() % 300) - 160);
    if (!std::isnan(a)) {
      ASSERT_EQ(abi::float_of_double(bits(a)), std::bit_cast<uint32_t>(static_cast<float>(a))) << a;
    }
    const uint64_t n = random() >> random() % 64;
    ASSERT_EQ(abi::double_of_unsigned(n), bits(static_cast<double>(n))) << n;
    if (a >= 0 && a < 18446744073709551616.0) {
      ASSERT_EQ(abi::unsigned_of_double(bits(a)), static_cast<uint64_t>(a)) << a;
    }
  }
  EXPECT_EQ(abi::float_of_double(bits(Limits::quiet_NaN())) & 0x7fc00000, 0x7fc00000u);
  EXPECT_EQ(abi::unsigned_of_double(bits(-1.0)), 0u);
  EXPECT_EQ(abi::unsigned_of_double(bits(1e300)), UINT64_MAX);
}

TEST(SoftDouble, RoundsExtendedNumbers) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 1000000; ++i) {
    uint64_t mantissa = random() | 1ull << 63;
    if (i % 3 == 0) mantissa &= ~0x7ffull << random() % 3;  // ties among them
    auto exponent = static_cast<uint16_t>((random() & 0x8000) + 16383 - 1100 + random() % 2200);
    long double value = 0;
    std::memcpy(&value, &mantissa, 8);
    std::memcpy(reinterpret_cast<char*>(&value) + 8, &exponent, 2);
    ASSERT_TRUE(same(abi::double_of_extended(mantissa, exponent), static_cast<double>(value)))
        << value;
  }
  EXPECT_EQ(abi::double_of_extended(1ull << 63, 0x7fff), bits(Limits::infinity()));
  EXPECT_TRUE(std::isnan(number(abi::double_of_extended(3ull << 62, 0xffff))));
  EXPECT_EQ(abi::double_of_extended(0, 0x8000), bits(-0.0));
}

}  // namespace
}  // namespace dj
