// SPDX-License-Identifier: Apache-2.0
// Where all bits of up to a word are known, a run is that word; else a bit-field may be known.
#include "compiler/debuginfo/bit_run.h"

#include <algorithm>

namespace dj {

namespace {

constexpr uint64_t kWordBits = 64;

// The bits as the lowest ones of a word; none: they are more, or nowhere.
std::optional<LocExpr> word_of(uint64_t bits, uint64_t from, const ValueLocation& value_at) {
  uint64_t bytes = 1;
  while (bytes < 8 && bytes * 8 < from + bits) {
    bytes *= 2;
  }
  const Result<ValueLocation> part = slice(value_at, 0, bytes);
  if (from + bits > kWordBits || !part.ok() || part.value().kind > ValueLocation::Value) {
    return std::nullopt;
  }
  LocExpr word = load(part.value(), uint8_t(bytes), false);
  word.steps.push_back({LocStep::Extract, int64_t(from), int64_t(bits)});
  return word;
}

}  // namespace

void BitRun::add(uint64_t bits, uint64_t from, bool known, const ValueLocation& value_at) {
  std::optional<LocExpr> word = known ? word_of(bits, from, value_at) : std::nullopt;
  parts_.push_back({bits_, bits, word.has_value(), std::move(word).value_or(LocExpr())});
  bits_ += bits;
}

LocationPiece BitRun::take(uint64_t offset) {
  LocationPiece piece{offset, bits_ / 8, false, {}};
  const bool whole =
      bits_ <= kWordBits &&
      std::all_of(parts_.begin(), parts_.end(), [](const BitPart& part) { return part.known; });
  if (whole) {
    piece.known = true;
    piece.value_at.kind = ValueLocation::Value;
    std::vector<LocStep>& steps = piece.value_at.expr.steps;
    for (const BitPart& part : parts_) {
      const bool first = steps.empty();
      steps.insert(steps.end(), part.value.steps.begin(), part.value.steps.end());
      steps.insert(steps.end(), {{LocStep::PushConst, int64_t(part.offset)}, {LocStep::Shl}});
      if (!first) {
        steps.push_back({LocStep::Or});
      }
    }
  } else {
    piece.bits = std::move(parts_);
  }
  bits_ = 0;
  parts_.clear();
  return piece;
}

}  // namespace dj
