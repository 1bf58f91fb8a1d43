// SPDX-License-Identifier: Apache-2.0
// Parts of values: in memory an offset, in registers a shift, in pieces whichever holds them.
#include "compiler/debuginfo/value_location.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/registers.h"

namespace dj {

namespace {

using Op = LocStep::Op;

constexpr uint64_t kWord = 8;

void add_step(LocExpr& expr, Op op, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  expr.steps.push_back({op, a, b, c});
}

// Several pieces as one word, the lowest byte first.
Result<ValueLocation> join(const ValueLocation& value_at, uint64_t offset, uint64_t size) {
  ValueLocation word;
  word.kind = ValueLocation::Value;
  uint64_t joined = 0;
  for (const LocationPiece& piece : value_at.pieces) {
    const uint64_t begin = std::max(piece.offset, offset);
    const uint64_t end = std::min(piece.end(), offset + size);
    joined += end > begin ? end - begin : 0;
    for (uint64_t at = begin; at < end;) {
      uint64_t bytes = kWord;  // what one read can take
      while (bytes > end - at) {
        bytes /= 2;
      }
      DJ_TRY(ValueLocation part, slice(value_at, at, bytes));
      const LocExpr value = load(part, uint8_t(bytes), false);
      const bool first = word.expr.steps.empty();
      word.expr.steps.insert(word.expr.steps.end(), value.steps.begin(), value.steps.end());
      add_step(word.expr, LocStep::PushConst, int64_t(at - offset) * 8);
      add_step(word.expr, LocStep::Shl);
      if (!first) {
        add_step(word.expr, LocStep::Or);
      }
      at += bytes;
    }
  }
  if (joined < size) {  // the pieces may end before the value does
    return Error{"it was optimized out"};
  }
  return word;
}

// The pieces within the bytes; what cannot be taken is missing.
ValueLocation parts_of(const ValueLocation& value_at, uint64_t offset, uint64_t size) {
  ValueLocation part;
  part.kind = ValueLocation::Pieces;
  for (const LocationPiece& piece : value_at.pieces) {
    const uint64_t begin = std::max(piece.offset, offset);
    const uint64_t end = std::min(piece.end(), offset + size);
    if (begin >= end) {
      continue;
    }
    Result<ValueLocation> inner = Error{};
    if (piece.known) {
      inner = slice(piece.value_at, begin - piece.offset, end - begin);
    }
    part.pieces.push_back(
        {begin - offset, end - begin, inner.ok(), inner.ok() ? inner.take() : ValueLocation()});
    if (begin == piece.offset && end == piece.end()) {
      part.pieces.back().bits = piece.bits;
    }
  }
  return part;
}

ValueLocation words_of_register(int reg) {
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  for (uint64_t i = 0; i < arch::words_of(reg); i++) {
    ValueLocation word;
    word.kind = ValueLocation::Value;
    add_step(word.expr, LocStep::PushReg, reg, int64_t(i));
    whole.pieces.push_back({i * kWord, kWord, true, std::move(word)});
  }
  return whole;
}

Result<ValueLocation> slice_pieces(const ValueLocation& value_at, uint64_t offset, uint64_t size) {
  for (const LocationPiece& piece : value_at.pieces) {
    if (piece.offset <= offset && offset + size <= piece.end()) {
      if (!piece.known) {
        return Error{"this part of it was optimized out"};
      }
      return slice(piece.value_at, offset - piece.offset, size);
    }
  }
  return size <= kWord ? join(value_at, offset, size) : parts_of(value_at, offset, size);
}

// A bit-field whose bits, or bytes alone, are outside of memory; none: they are not.
std::optional<LocExpr> bits_in_registers(const ValueLocation& value_at, uint64_t offset,
                                         uint64_t size, bool is_signed) {
  LocExpr word;
  uint64_t from = offset % 8;
  for (const LocationPiece& piece : value_at.pieces) {
    for (const BitPart& part : piece.bits) {
      if (part.known && piece.offset * 8 + part.offset == offset && part.size == size) {
        word = part.value;
        from = 0;
      }
    }
  }
  if (word.steps.empty()) {
    const uint64_t bytes = (from + size + 7) / 8;
    const Result<ValueLocation> there = slice(value_at, offset / 8, bytes);
    if (!there.ok() || there.value().kind != ValueLocation::Value) {
      return std::nullopt;
    }
    word = load(there.value(), uint8_t(bytes), false);
  }
  word.steps.push_back({LocStep::Extract, int64_t(from), int64_t(size), is_signed});
  return word;
}

// Bits that no aligned word holds (of a packed struct): their bytes are read, which may be nine,
// and none beyond.
Result<LocExpr> split_bits(const ValueLocation& value_at, uint64_t offset, uint64_t size,
                           bool is_signed) {
  const uint64_t first = offset / 8, below = offset % 8, bytes = (below + size + 7) / 8;
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  whole.pieces.push_back({0, first + bytes, true, value_at});
  DJ_TRY(ValueLocation low, join(whole, first, std::min(bytes, kWord)));
  LocExpr word = std::move(low.expr);
  add_step(word, Op::Extract, int64_t(below), int64_t(std::min(size, 64 - below)));
  if (bytes > kWord) {
    DJ_TRY(ValueLocation there, slice(value_at, first + kWord, 1));
    const LocExpr high = load(there, 1, false);
    word.steps.insert(word.steps.end(), high.steps.begin(), high.steps.end());
    add_step(word, Op::PushConst, int64_t(64 - below));
    add_step(word, Op::Shl);
    add_step(word, Op::Or);
  }
  add_step(word, Op::Extract, 0, int64_t(size), is_signed);
  return word;
}

}  // namespace

ValueLocation constant_location(const unsigned char* bytes, uint64_t count) {
  ValueLocation value_at;
  for (uint64_t at = 0; at < count; at += kWord) {
    int64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(kWord, count - at));
    ValueLocation value;
    value.kind = ValueLocation::Value;
    add_step(value.expr, LocStep::PushConst, word);
    if (count <= kWord) {
      return value;
    }
    value_at.pieces.push_back({at, std::min(kWord, count - at), true, std::move(value)});
  }
  value_at.kind = ValueLocation::Pieces;
  return value_at;
}

Result<ValueLocation> slice(const ValueLocation& value_at, uint64_t offset, uint64_t size) {
  switch (value_at.kind) {
    case ValueLocation::Memory: {
      ValueLocation part = value_at;
      add_constant(part.expr, int64_t(offset));
      return part;
    }
    case ValueLocation::Value: {
      if (value_at.reg >= 0 && offset + size > kWord &&
          offset + size <= kWord * arch::words_of(value_at.reg)) {
        return slice(words_of_register(value_at.reg), offset, size);
      }
      if (offset + size > kWord) {
        return Error{"its upper part is not known"};
      }
      ValueLocation part = value_at;
      if (offset > 0) {
        part.reg = -1;
        add_step(part.expr, LocStep::PushConst, int64_t(offset) * 8);
        add_step(part.expr, LocStep::Shr);
      }
      return part;
    }
    case ValueLocation::Pieces:
      return slice_pieces(value_at, offset, size);
    case ValueLocation::Pointer:
      if (offset == 0) {
        return value_at;
      }
      return Error{"the pointer was optimized out"};
  }
  return value_at;
}

Result<ValueLocation> slice_known(const ValueLocation& value_at, uint64_t offset, uint64_t size) {
  Result<ValueLocation> whole = slice(value_at, offset, size);
  if (whole.ok() || value_at.kind != ValueLocation::Pieces) {
    return whole;
  }
  ValueLocation part = parts_of(value_at, offset, size);
  const bool some = std::any_of(part.pieces.begin(), part.pieces.end(),
                                [](const LocationPiece& piece) { return piece.known; });
  return some ? Result<ValueLocation>(std::move(part)) : whole;
}

Result<LocExpr> load_bits(const ValueLocation& value_at, uint64_t offset, uint64_t size,
                          bool is_signed) {
  if (std::optional<LocExpr> bits = bits_in_registers(value_at, offset, size, is_signed)) {
    return *bits;
  }
  for (uint64_t bytes : {1, 2, 4, 8}) {  // the smallest aligned word that holds all bits
    const uint64_t unit = offset / 8 / bytes * bytes;
    if (offset + size > (unit + bytes) * 8) {
      continue;
    }
    DJ_TRY(ValueLocation there, slice(value_at, unit, bytes));
    LocExpr expr = load(there, uint8_t(bytes), false);
    add_step(expr, Op::Extract, int64_t(offset - unit * 8), int64_t(size), is_signed);
    return expr;
  }
  return split_bits(value_at, offset, size, is_signed);
}

void add_constant(LocExpr& expr, int64_t n) {
  std::vector<LocStep>& steps = expr.steps;
  if (n == 0) {
    return;
  }
  if (steps.size() >= 2 && steps.back().op == Op::Add &&
      steps[steps.size() - 2].op == Op::PushConst) {
    int64_t& constant = steps[steps.size() - 2].a;
    constant += n;
    if (constant == 0) {
      steps.resize(steps.size() - 2);
    }
    return;
  }
  add_step(expr, Op::PushConst, n);
  add_step(expr, Op::Add);
}

LocExpr load(const ValueLocation& value_at, uint8_t size, bool is_signed) {
  LocExpr expr = value_at.expr;
  if (value_at.kind == ValueLocation::Memory) {
    add_step(expr, value_at.in_frame ? Op::StackDeref : Op::Deref, size, is_signed);
  } else if (size < 8) {
    add_step(expr, Op::Extend, size, is_signed);
  }
  return expr;
}

ValueLocation wide_location(const LocExpr& expr) {
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  for (uint64_t i = 0; i < 2; i++) {
    ValueLocation word;
    word.kind = ValueLocation::Value;
    word.expr = expr;
    add_step(word.expr, LocStep::Half, int64_t(i));
    whole.pieces.push_back({i * kWord, kWord, true, std::move(word)});
  }
  return whole;
}

LocExpr rounded_from_x87(int64_t reg, bool to_float) {
  LocExpr expr;
  add_step(expr, Op::PushReg, reg, 0);
  add_step(expr, Op::PushReg, reg, 1);
  add_step(expr, Op::DoubleOfExtended);
  if (to_float) {
    add_step(expr, Op::FloatOfDouble);
  }
  return expr;
}

}  // namespace dj
