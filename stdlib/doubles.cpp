// SPDX-License-Identifier: Apache-2.0
// Doubles, what handlers call: operators, conversions and built-in functions.
#include "runtime/shared/soft_double.h"
#include "stdlib/entries.h"

using namespace dj;
using abi::Rounding;

uint64_t dj_double_compute(uint32_t op, uint64_t a, uint64_t b) {
  switch (op) {
    case 0:
      return abi::double_add(a, b);
    case 1:
      return abi::double_subtract(a, b);
    case 2:
      return abi::double_multiply(a, b);
    default:
      return abi::double_divide(a, b);
  }
}

int32_t dj_double_compare(uint64_t a, uint64_t b) { return abi::double_compare(a, b); }

uint64_t dj_double_of_int(int64_t number) { return abi::double_of_int(number); }

uint64_t dj_double_of_unsigned(uint64_t number) { return abi::double_of_unsigned(number); }

uint64_t dj_double_of_float(uint64_t bits) {
  return abi::double_of_float(static_cast<uint32_t>(bits));
}

uint64_t dj_float_of_double(uint64_t bits) { return abi::float_of_double(bits); }

int64_t dj_int_of_double(uint64_t bits) {
  constexpr uint64_t kTwoTo63 = 1086ull << 52;
  const bool fits = abi::double_compare(bits & INT64_MAX, kTwoTo63) < 0;
  return fits ? abi::int_of_double(bits, Rounding::ToZero) : INT64_MIN;
}

uint64_t dj_unsigned_of_double(uint64_t bits) { return abi::unsigned_of_double(bits); }

uint64_t dj_double_of_extended(uint64_t mantissa, uint64_t sign_exponent) {
  return abi::double_of_extended(mantissa, static_cast<uint16_t>(sign_exponent));
}

uint64_t dj_double(uint64_t value) { return value; }  // its argument was converted on the way

int64_t dj_round(uint64_t value) { return abi::int_of_double(value, Rounding::Nearest); }
int64_t dj_trunc(uint64_t value) { return abi::int_of_double(value, Rounding::ToZero); }
int64_t dj_floor(uint64_t value) { return abi::int_of_double(value, Rounding::Down); }
int64_t dj_ceil(uint64_t value) { return abi::int_of_double(value, Rounding::Up); }
uint64_t dj_sqrt(uint64_t value) { return abi::double_square_root(value); }

uint64_t dj_user_double(abi::Context* ctx, int64_t address) {
  return static_cast<uint64_t>(dj_user_int64(ctx, address));
}

uint64_t dj_user_float(abi::Context* ctx, int64_t address) {
  return abi::double_of_float(static_cast<uint32_t>(dj_user_uint32(ctx, address)));
}
