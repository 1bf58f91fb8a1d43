// SPDX-License-Identifier: Apache-2.0
// BitRun: pieces of a value that begin or end within bytes (DW_OP_bit_piece), collected until they
// fill whole bytes. Only for this room.
#pragma once
#include "compiler/debuginfo/value_location.h"

namespace dj {

class BitRun {
 public:
  bool empty() const { return bits_ == 0; }
  // So many bits: those of what lies at the location, from its bit `from` on; not known: of
  // nothing.
  void add(uint64_t bits, uint64_t from, bool known, const ValueLocation& value_at);
  bool fills_bytes() const { return bits_ % 8 == 0; }
  // All of it as one piece of a value that has `offset` bytes before it; empty from then on.
  LocationPiece take(uint64_t offset);

 private:
  uint64_t bits_ = 0;
  std::vector<BitPart> parts_;
};

}  // namespace dj
