// SPDX-License-Identifier: Apache-2.0
// Table of operations, one row each: libdw knows them too, but gives nobody what it does not know
// in full.
#include "compiler/debuginfo/op_table.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>

namespace dj {

namespace {

// Operands: 1, 2, 4, 8 bytes; l: LEB128; o: an offset; b: bytes, their number before them as
// LEB128; B: the same as one byte.
struct OpRow {
  uint8_t atom;
  const char* name;
  const char* operands;
};
#define ROW(name, operands) {DW_OP_##name, "DW_OP_" #name, operands}

constexpr OpRow kRows[] = {
    ROW(addr, "8"),
    ROW(deref, ""),
    ROW(const1u, "1"),
    ROW(const1s, "1"),
    ROW(const2u, "2"),
    ROW(const2s, "2"),
    ROW(const4u, "4"),
    ROW(const4s, "4"),
    ROW(const8u, "8"),
    ROW(const8s, "8"),
    ROW(constu, "l"),
    ROW(consts, "l"),
    ROW(dup, ""),
    ROW(drop, ""),
    ROW(over, ""),
    ROW(pick, "1"),
    ROW(swap, ""),
    ROW(rot, ""),
    ROW(xderef, ""),
    ROW(abs, ""),
    ROW(and, ""),
    ROW(div, ""),
    ROW(minus, ""),
    ROW(mod, ""),
    ROW(mul, ""),
    ROW(neg, ""),
    ROW(not, ""),
    ROW(or, ""),
    ROW(plus, ""),
    ROW(plus_uconst, "l"),
    ROW(shl, ""),
    ROW(shr, ""),
    ROW(shra, ""),
    ROW(xor, ""),
    ROW(bra, "2"),
    ROW(eq, ""),
    ROW(ge, ""),
    ROW(gt, ""),
    ROW(le, ""),
    ROW(lt, ""),
    ROW(ne, ""),
    ROW(skip, "2"),
    ROW(regx, "l"),
    ROW(fbreg, "l"),
    ROW(bregx, "ll"),
    ROW(piece, "l"),
    ROW(deref_size, "1"),
    ROW(xderef_size, "1"),
    ROW(nop, ""),
    ROW(push_object_address, ""),
    ROW(call2, "2"),
    ROW(call4, "4"),
    ROW(call_ref, "o"),
    ROW(form_tls_address, ""),
    ROW(call_frame_cfa, ""),
    ROW(bit_piece, "ll"),
    ROW(implicit_value, "b"),
    ROW(stack_value, ""),
    ROW(implicit_pointer, "ol"),
    ROW(addrx, "l"),
    ROW(constx, "l"),
    ROW(entry_value, "b"),
    ROW(const_type, "lB"),
    ROW(regval_type, "ll"),
    ROW(deref_type, "1l"),
    ROW(xderef_type, "1l"),
    ROW(convert, "l"),
    ROW(reinterpret, "l"),
    ROW(GNU_push_tls_address, ""),
    {kUninit, "DW_OP_GNU_uninit", ""},
    ROW(GNU_implicit_pointer, "ol"),
    ROW(GNU_entry_value, "b"),
    ROW(GNU_const_type, "lB"),
    ROW(GNU_regval_type, "ll"),
    ROW(GNU_deref_type, "1l"),
    ROW(GNU_convert, "l"),
    ROW(GNU_reinterpret, "l"),
    ROW(GNU_parameter_ref, "4"),
    ROW(GNU_addr_index, "l"),
    ROW(GNU_const_index, "l"),
    ROW(GNU_variable_value, "o"),
};
#undef ROW

const OpRow* row_of(uint8_t atom) {
  const OpRow* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const OpRow& r) { return r.atom == atom; });
  return row != std::end(kRows) ? row : nullptr;
}

std::optional<size_t> operand_length(char kind, std::span<const uint8_t> bytes, size_t offset) {
  std::optional<Leb> leb;
  switch (kind) {
    case 'o':
      return offset;
    case 'B':
      return bytes.empty() ? std::nullopt : std::optional<size_t>(1 + bytes[0]);
    case 'l':
      leb = read_leb(bytes);
      return leb ? std::optional(leb->length) : std::nullopt;
    case 'b':
      leb = read_leb(bytes);
      return leb ? std::optional<size_t>(leb->length + leb->value) : std::nullopt;
    default:
      return size_t(kind - '0');
  }
}

}  // namespace

std::optional<Leb> read_leb(std::span<const uint8_t> bytes) {
  Leb leb;
  for (const uint8_t byte : bytes) {
    if (leb.length >= 10) {
      break;
    }
    leb.value |= uint64_t(byte & 0x7f) << (7 * leb.length++);
    if ((byte & 0x80) == 0) {
      return leb;
    }
  }
  return std::nullopt;
}

std::string op_name(uint8_t atom) {
  const OpRow* row = row_of(atom);
  return row ? row->name : fmt::format("operation {:#x}", atom);
}

std::optional<size_t> op_length(std::span<const uint8_t> bytes, size_t offset_bytes) {
  if (bytes.empty()) {
    return std::nullopt;
  }
  const uint8_t atom = bytes[0];
  const OpRow* row = row_of(atom);
  const bool numbered = atom >= DW_OP_lit0 && atom <= DW_OP_breg31;
  if (!row && !numbered) {
    return std::nullopt;
  }
  size_t length = 1;
  for (const char* kind = row ? row->operands : atom >= DW_OP_breg0 ? "l" : ""; *kind; kind++) {
    const std::optional<size_t> more = operand_length(*kind, bytes.subspan(length), offset_bytes);
    if (!more || *more > bytes.size() - length) {
      return std::nullopt;
    }
    length += *more;
  }
  return length;
}

}  // namespace dj
