// SPDX-License-Identifier: Apache-2.0
// Numbers of up to 16 bytes in integer registers, compared with the machine's and the compiler's
// own arithmetic.
#include "runtime/shared/wide_number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "runtime/shared/soft_double.h"

namespace dj {
namespace {

using abi::NumberForm;
using abi::Wide;
using abi::WideOp;
using Signed = __int128;

template <typename T>
Wide bits(T value) {
  Wide word = 0;
  std::memcpy(&word, &value, std::is_same_v<T, long double> ? 10 : sizeof value);
  return word;
}

template <typename T>
T number(Wide word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

template <typename T>
bool is_nan(T value) {
  return value != value;
}

template <typename T>
bool same(Wide ours, T machine) {
  return is_nan(machine) ? is_nan(number<T>(ours)) : ours == bits(machine);
}

// Random numbers: any bits, of like size, whole ones, near the smallest and the largest, and few.
template <typename T>
class Operands {
 public:
  explicit Operands(int digits) : last_(power_of_two(-digits / 2)) {}
  T next() {
    const auto whole = static_cast<T>(static_cast<int64_t>(random_()) >> random_() % 64);
    const T fine = whole / static_cast<T>(static_cast<int64_t>(random_()) | 1);
    switch (random_() % 7) {
      case 0:
        return whole;
      case 1:
        return fine;
      case 2:
        return fine * small_ * small_;
      case 3:
        return fine / small_ / small_;
      case 4:
        return whole + last_;
      case 5:
        return fine * fine;
      default:
        return few_[random_() % std::size(few_)];
    }
  }

 private:
  static T power_of_two(int power) {
    T value = 1;
    for (; power < 0; ++power) value /= 2;
    return value;
  }
  const T none_ = 0, few_[8] = {0, -T{0}, 1, -1, T(1.5), T(1) / 3, 1 / none_, -1 / none_};
  const T last_;  // less than the last digit of many whole numbers
  // The least numbers' square root, nearly.
  const T small_ = power_of_two(sizeof(T) == 4 ? -70 : sizeof(T) == 8 ? -530 : -8200);
  std::mt19937_64 random_{7};
};

template <typename T>
void compute_as_the_compiler_does(NumberForm form, int digits, int times) {
  Operands<T> operands(digits);
  for (int i = 0; i < times; ++i) {
    const volatile T a = operands.next(), b = operands.next();
    const T x = a, y = b;
    const Wide p = bits(x), q = bits(y);
    ASSERT_TRUE(same<T>(abi::wide_compute(form, WideOp::Add, p, q), a + b))
        << double(x) << double(y);
    ASSERT_TRUE(same<T>(abi::wide_compute(form, WideOp::Sub, p, q), a - b))
        << double(x) << double(y);
    ASSERT_TRUE(same<T>(abi::wide_compute(form, WideOp::Mul, p, q), a * b))
        << double(x) << double(y);
    ASSERT_TRUE(same<T>(abi::wide_compute(form, WideOp::Div, p, q), a / b))
        << double(x) << double(y);
    const int32_t order = is_nan(x) || is_nan(y) ? abi::kUnordered : a < b ? -1 : a > b;
    ASSERT_EQ(abi::wide_compare(form, p, q), order) << double(x) << " " << double(y);
    ASSERT_EQ(abi::wide_compare(form, p, p), is_nan(x) ? abi::kUnordered : 0);
  }
}

TEST(WideNumber, ComputesAsTheMachineDoes) {
  compute_as_the_compiler_does<float>(NumberForm::Float, 24, 30000);
  compute_as_the_compiler_does<double>(NumberForm::Double, 53, 30000);
  compute_as_the_compiler_does<long double>(NumberForm::Extended, 64, 30000);
  compute_as_the_compiler_does<__float128>(NumberForm::Quad, 113, 30000);
}

template <typename From>
void convert_as_the_compiler_does(NumberForm from, int digits) {
  Operands<From> operands(digits);
  for (int i = 0; i < 30000; ++i) {
    const volatile From a = operands.next();
    const From x = a;
    const auto to = [&](NumberForm form) { return abi::convert_number(from, form, bits(x)); };
    ASSERT_TRUE(same<float>(to(NumberForm::Float), static_cast<float>(a))) << double(x);
    ASSERT_TRUE(same<double>(to(NumberForm::Double), static_cast<double>(a))) << double(x);
    ASSERT_TRUE(same<long double>(to(NumberForm::Extended), static_cast<long double>(a)));
    ASSERT_TRUE(same<__float128>(to(NumberForm::Quad), static_cast<__float128>(a)));
    if (x > From(-1e18) && x < From(1e18)) {
      const auto whole = static_cast<int64_t>(x);
      ASSERT_EQ(static_cast<int64_t>(to(NumberForm::Signed)), whole) << double(x);
      ASSERT_TRUE(static_cast<Signed>(to(NumberForm::WideSigned)) == whole) << double(x);
      ASSERT_EQ(static_cast<uint64_t>(to(NumberForm::Unsigned)),
                static_cast<uint64_t>(whole < 0 ? 0 : whole));
    }
  }
}

TEST(WideNumber, ConvertsAsTheCompilerDoes) {
  convert_as_the_compiler_does<float>(NumberForm::Float, 24);
  convert_as_the_compiler_does<double>(NumberForm::Double, 53);
  convert_as_the_compiler_does<long double>(NumberForm::Extended, 64);
  convert_as_the_compiler_does<__float128>(NumberForm::Quad, 113);
}

TEST(WideNumber, WholeNumbers) {
  std::mt19937_64 random(3);
  const auto next = [&] { return (Wide{random()} << 64 | random()) >> random() % 128; };
  for (int i = 0; i < 100000; ++i) {
    const Wide a = next(), b = next() | 1;
    const auto s = static_cast<Signed>(a), t = static_cast<Signed>(random() % 2 != 0 ? b : 0 - b);
    const auto whole = NumberForm::WideUnsigned, with_sign = NumberForm::WideSigned;
    ASSERT_TRUE(abi::wide_compute(whole, WideOp::Div, a, b) == a / b);
    ASSERT_TRUE(abi::wide_compute(whole, WideOp::Mod, a, b) == a % b);
    const auto divisor = static_cast<Wide>(t);
    ASSERT_TRUE(static_cast<Signed>(abi::wide_compute(with_sign, WideOp::Div, a, divisor)) ==
                s / t);
    ASSERT_TRUE(static_cast<Signed>(abi::wide_compute(with_sign, WideOp::Mod, a, divisor)) ==
                s % t);
    const auto word = static_cast<uint64_t>(a);
    const auto signed_word = static_cast<int64_t>(word);
    const auto from = [&](NumberForm form, Wide value, NumberForm to) {
      return abi::convert_number(form, to, value);
    };
    ASSERT_TRUE(same<float>(from(with_sign, a, NumberForm::Float), static_cast<float>(s)));
    ASSERT_TRUE(same<double>(from(whole, a, NumberForm::Double), static_cast<double>(a)));
    ASSERT_TRUE(same<__float128>(from(with_sign, a, NumberForm::Quad), static_cast<__float128>(s)));
    ASSERT_TRUE(same<float>(from(NumberForm::Signed, word, NumberForm::Float),
                            static_cast<float>(signed_word)));
    ASSERT_TRUE(
        same<float>(from(NumberForm::Unsigned, word, NumberForm::Float), static_cast<float>(word)));
    ASSERT_TRUE(same<long double>(from(NumberForm::Signed, word, NumberForm::Extended),
                                  static_cast<long double>(signed_word)));
  }
  EXPECT_TRUE(abi::wide_compute(NumberForm::WideUnsigned, WideOp::Div, 1, 0) == 0);
  const Wide least = Wide{1} << 127;
  EXPECT_TRUE(abi::wide_compute(NumberForm::WideSigned, WideOp::Div, least, ~Wide{0}) == least);
}

TEST(WideNumber, HalvesAndTheEndsOfRanges) {
  const auto half = [](double value) {
    return static_cast<uint64_t>(
        abi::convert_number(NumberForm::Double, NumberForm::Half, bits(value)));
  };
  EXPECT_EQ(half(1), 0x3c00u);
  EXPECT_EQ(half(-2.5), 0xc100u);
  EXPECT_EQ(half(65504), 0x7bffu);
  EXPECT_EQ(half(65520), 0x7c00u);
  EXPECT_EQ(half(0x1p-24), 1u);
  EXPECT_EQ(abi::convert_number(NumberForm::Half, NumberForm::Double, 0x7bff), bits(65504.0));
  const auto whole = [](double value, NumberForm to) {
    return abi::convert_number(NumberForm::Double, to, bits(value));
  };
  EXPECT_EQ(static_cast<int64_t>(whole(1e30, NumberForm::Signed)), INT64_MAX);
  EXPECT_EQ(static_cast<int64_t>(whole(-1e30, NumberForm::Signed)), INT64_MIN);
  EXPECT_EQ(static_cast<uint64_t>(whole(1e30, NumberForm::Unsigned)), UINT64_MAX);
  EXPECT_TRUE(whole(-1e30, NumberForm::WideSigned) ==
              static_cast<Wide>(static_cast<Signed>(-1e30)));
  EXPECT_TRUE(whole(NAN, NumberForm::WideSigned) == 0);
}

}  // namespace
}  // namespace dj
