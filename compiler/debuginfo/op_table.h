// SPDX-License-Identifier: Apache-2.0
// The operations of DWARF expressions as bytes: their names, and which operands follow. Only for
// this room.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace dj {

constexpr uint8_t kUninit = 0xf0;  // DW_OP_GNU_uninit, which dwarf.h does not have

// "DW_OP_xderef"; "operation 0xe4" where there is no name.
std::string op_name(uint8_t atom);

// The bytes that the operation at the beginning and its operands take; none: it is unknown, or cut
// off. `offset_bytes`: of an offset in this unit, 4 or 8.
std::optional<size_t> op_length(std::span<const uint8_t> bytes, size_t offset_bytes);

// The bytes that a LEB128 number at the beginning takes (its end must be there), and its value.
struct Leb {
  size_t length = 0;
  uint64_t value = 0;
};
std::optional<Leb> read_leb(std::span<const uint8_t> bytes);

}  // namespace dj
