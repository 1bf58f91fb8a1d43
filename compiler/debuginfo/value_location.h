// SPDX-License-Identifier: Apache-2.0
// ValueLocation: where a value is, and how to take a part of it or read it. Only for this room.
#pragma once
#include <elfutils/libdw.h>

#include <optional>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/location.h"

namespace dj {

struct LocationPiece;

struct ValueLocation {
  LocExpr expr;
  enum Kind : uint8_t {
    Memory,   // expr yields its address
    Value,    // expr yields the value itself, at most 8 bytes
    Pieces,   // in parts
    Pointer,  // a pointer that does not exist; `pointee` is the variable it would point to
  } kind = Memory;
  bool in_frame = false;  // Memory: provably in the current stack frame, so a read cannot fault
  int reg = -1;           // Value: the whole of this register
  std::vector<LocationPiece> pieces;  // ascending, without gaps
  std::optional<Dwarf_Die> pointee;
  int64_t pointee_offset = 0;
};

// Some bits, counted from the beginning of their piece.
struct BitPart {
  uint64_t offset, size;
  bool known;
  LocExpr value;  // a word of them alone
};

struct LocationPiece {
  uint64_t offset, size;  // bytes
  bool known;             // false: this part was optimized out
  ValueLocation value_at;
  std::vector<BitPart> bits = {};  // not known as a whole, but some bits of it may be
  uint64_t end() const { return offset + size; }
};

// A constant of any size.
ValueLocation constant_location(const unsigned char* bytes, uint64_t count);
// Bytes [offset, offset + size) of what lies at the location; the error says why they are nowhere.
Result<ValueLocation> slice(const ValueLocation& value_at, uint64_t offset, uint64_t size);
// The same for a struct or an array, of which parts may be missing; the error: all are.
Result<ValueLocation> slice_known(const ValueLocation& value_at, uint64_t offset, uint64_t size);

// A bit-field: its first bit counted from the location's beginning, and how many it has (at most
// 64).
Result<LocExpr> load_bits(const ValueLocation& value_at, uint64_t offset, uint64_t size,
                          bool is_signed);

// Appends "+ n" to an expression that ends with a word on its stack.
void add_constant(LocExpr& expr, int64_t n);
// Loads the value of `size` bytes (1, 2, 4, 8) that lies at a Memory location, or cuts a Value
// location to that size.
LocExpr load(const ValueLocation& value_at, uint8_t size, bool is_signed);
// What an expression leaves that ends with a wide word.
ValueLocation wide_location(const LocExpr& expr);
// The bits of the double, or float, that a register of the x87 (DWARF's number) holds in 80 bits.
LocExpr rounded_from_x87(int64_t reg, bool to_float);

}  // namespace dj
