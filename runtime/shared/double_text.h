// SPDX-License-Identifier: Apache-2.0
// double_text() writes a double as decimal text, rounded exactly as C's printf does, without
// floating-point instructions.
#pragma once
#include <stdint.h>

namespace dj::abi {

constexpr uint32_t kMaxDoublePrecision = 340;
constexpr uint32_t kDoubleTextBytes = 1 + 309 + 1 + kMaxDoublePrecision;
constexpr uint32_t kShortDoubleBytes = 24;

// Writes |value| as %f, %e or %g (letter; also F E G) with the precision (cut to
// kMaxDoublePrecision) to `to`, which has room for kDoubleTextBytes; how many bytes. No sign.
// alternate: as '#'.
uint32_t double_text(char* to, uint64_t bits, char letter, uint32_t precision, bool alternate);

// "%g" with the sign: at most kShortDoubleBytes.
uint32_t short_double_text(char* to, uint64_t bits);

}  // namespace dj::abi
