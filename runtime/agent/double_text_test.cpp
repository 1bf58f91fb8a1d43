// SPDX-License-Identifier: Apache-2.0
// Decimal text of doubles, compared with the C library's printf.
#include "runtime/shared/double_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "runtime/shared/soft_double.h"

namespace dj {
namespace {

std::string ours(double value, char letter, uint32_t precision, bool alternate = false) {
  char text[abi::kDoubleTextBytes];
  return {text,
          abi::double_text(text, std::bit_cast<uint64_t>(value), letter, precision, alternate)};
}

std::string libc(double value, char letter, uint32_t precision, bool alternate = false) {
  char text[1024];
  const std::string format = std::string(alternate ? "%#.*" : "%.*") + letter;
  std::snprintf(text, sizeof text, format.c_str(), int(precision), std::fabs(value));
  return text;
}

TEST(DoubleText, AgreesWithPrintf) {
  std::mt19937_64 random(7);
  std::vector<double> values = {0,
                                1,
                                1.5,
                                2.5,
                                0.5,
                                0.1,
                                1e21,
                                123456789,
                                999999.5,
                                9.9999995,
                                1e-5,
                                1e-4,
                                0.00012345678,
                                1e100,
                                5e-324,
                                1.7976931348623157e308,
                                2.2250738585072014e-308,
                                1e15,
                                1e16,
                                0.125,
                                0.375,
                                1e6,
                                100000,
                                std::numeric_limits<double>::infinity(),
                                std::nan("")};
  for (int i = 0; i < 3000; ++i) values.push_back(std::bit_cast<double>(random()));
  for (int i = 0; i < 3000; ++i) values.push_back(double(int64_t(random() % 2000001)) / 1000.0);
  for (double value : values) {
    for (char letter : {'f', 'e', 'g', 'G'}) {
      for (uint32_t precision : {0u, 1u, 3u, 6u, 17u, 40u}) {
        ASSERT_EQ(ours(value, letter, precision), libc(value, letter, precision))
            << value << " " << letter << precision;
        // glibc 2.36 drops the zeros of %#g where rounding made one digit more (999999.5).
        if (letter == 'g' || letter == 'G') continue;
        ASSERT_EQ(ours(value, letter, precision, true), libc(value, letter, precision, true))
            << value << " " << letter << precision;
      }
    }
  }
}

TEST(DoubleText, ShortFormHasASign) {
  char text[abi::kShortDoubleBytes];
  auto text_of = [&](double v) {
    return std::string(text, abi::short_double_text(text, std::bit_cast<uint64_t>(v)));
  };
  EXPECT_EQ(text_of(-1.5), "-1.5");
  EXPECT_EQ(text_of(1.0 / 3), "0.333333");
  EXPECT_EQ(text_of(-1e-300), "-1e-300");
}

TEST(DoubleText, FloatsBecomeDoubles) {
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(uint32_t(random()) & (i % 2 ? ~0u : 0x80ffffffu));
    if (std::isnan(value)) continue;
    ASSERT_EQ(abi::double_of_float(std::bit_cast<uint32_t>(value)),
              std::bit_cast<uint64_t>(double(value)));
  }
}

}  // namespace
}  // namespace dj
