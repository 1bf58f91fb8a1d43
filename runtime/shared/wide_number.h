// SPDX-License-Identifier: Apache-2.0
// wide_number.h computes with numbers of up to 16 bytes as debug info's expressions do, in integer
// registers, because neither the agent nor handlers may touch vector or x87 registers. It rounds to
// nearest, ties to even.
#pragma once
#include <stdint.h>

namespace dj::abi {

using Wide = unsigned __int128;

enum class NumberForm : uint8_t {
  Signed,  // of 64 bits
  Unsigned,
  WideSigned,  // of 128 bits
  WideUnsigned,
  Half,      // IEEE's binary16
  Float,     // binary32
  Double,    // binary64
  Extended,  // the x87's 80 bits; what lies above them is ignored
  Quad,      // IEEE's binary128
};
constexpr bool is_floating(NumberForm form) { return form >= NumberForm::Half; }
constexpr bool is_wide(NumberForm form) {
  return form == NumberForm::WideSigned || form == NumberForm::WideUnsigned ||
         form >= NumberForm::Extended;
}

enum class WideOp : uint8_t { Add, Sub, Mul, Div, Mod };

// The same number, rounded once; cut where it becomes a whole one, and the nearest end of the range
// where it does not fit. What the form does not fill is 0, or a signed number's sign.
Wide convert_number(NumberForm from, NumberForm to, Wide bits);

// Of floating forms all but Mod; of wide whole ones Div and Mod (0 where the divisor is 0).
Wide wide_compute(NumberForm form, WideOp op, Wide a, Wide b);

// Of floating forms: -1, 0, 1, or kUnordered (soft_double.h).
int32_t wide_compare(NumberForm form, Wide a, Wide b);

}  // namespace dj::abi
