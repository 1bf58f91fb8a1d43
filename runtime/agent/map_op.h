// SPDX-License-Identifier: Apache-2.0
// apply() computes what `element op= operand` makes of a word.
#pragma once
#include <stdint.h>

#include "runtime/shared/entries.h"

namespace dj::agent {

// Numbers of ast::BinOp.
enum Op : uint32_t { kAdd, kSub, kMul, kDiv, kMod, kShl, kShr, kUShr, kAnd, kOr, kXor };

inline uint64_t apply(uint32_t op, uint64_t a, uint64_t b) {
  if (op - abi::kDoubleOp <= kDiv) return dj_double_compute(op - abi::kDoubleOp, a, b);
  auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  switch (op) {
    case kAdd:
      return a + b;
    case kSub:
      return a - b;
    case kMul:
      return a * b;
    case kDiv:
      return y == -1 || y == 0 ? 0 - a : static_cast<uint64_t>(x / y);
    case kMod:
      return y == -1 || y == 0 ? 0 : static_cast<uint64_t>(x % y);
    case kShl:
      return a << (b & 63);
    case kShr:
      return static_cast<uint64_t>(x >> (b & 63));
    case kUShr:
      return a >> (b & 63);
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    case kXor:
      return a ^ b;
    default:
      return b;  // assignment
  }
}
constexpr uint32_t kAssign = ~0u;

}  // namespace dj::agent
