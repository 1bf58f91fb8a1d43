// SPDX-License-Identifier: Apache-2.0
// Looks for instructions on vector registers of 32 bytes and more, by their prefixes alone.
#include "compiler/debuginfo/wide_registers.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

constexpr uint8_t kVex = 0xc5, kVexLong = 0xc4, kVexWide = 0x04, kEvex = 0x62, kEvexWide = 0x60;

Bytes code_of(Dwarf_Die* function, const DwarfIndex& index) {
  Dwarf_Addr begin = 0, end = 0;
  if (dwarf_lowpc(function, &begin) != 0 || dwarf_highpc(function, &end) != 0 || end < begin) {
    return {};
  }
  const Bytes all = index.elf().at(begin + index.bias());
  return all.first(std::min(all.size(), size_t(end - begin)));
}

// vmovups, vmovaps, vmovdqa and their session processes: a register to memory or a register, and
// back.
bool is_store(uint8_t op) { return op == 0x11 || op == 0x29 || op == 0x7f; }
bool is_load(uint8_t op) { return op == 0x10 || op == 0x28 || op == 0x6f; }

// What such a value is made by: moves (which have no third operand), inserts and broadcasts; or any
// instruction on registers right before the return.
bool makes_wide_value(Bytes code, size_t i) {
  constexpr uint8_t kNoOperand = 0x78, kRegisters = 0xc0, kRet = 0xc3;
  if (code[i] == kVex && (code[i + 1] & kVexWide) != 0) {
    const bool move = is_store(code[i + 2]) || is_load(code[i + 2]);
    return (move && (code[i + 1] & kNoOperand) == kNoOperand) ||
           (code[i + 3] >= kRegisters && code[i + 4] == kRet);
  }
  const uint8_t map = code[i + 1] & 0x1f;
  return code[i] == kVexLong && (code[i + 2] & kVexWide) != 0 && map >= 2 && map <= 3;
}

// An instruction without AVX's prefixes, which code that is built for AVX does not have, writes
// into vector register `number`.
bool writes_old_way(Bytes code, int number) {
  constexpr uint8_t kTwoBytes = 0x0f;
  constexpr uint8_t kWrites[] = {0x10, 0x12, 0x14, 0x15, 0x16, 0x28, 0x2a, 0x51, 0x54, 0x56,
                                 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x60,
                                 0x61, 0x62, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0xc6, 0xd4, 0xdb,
                                 0xe6, 0xeb, 0xef, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe};
  for (size_t i = 0; i + 3 <= code.size(); i++) {
    if (code[i] == kTwoBytes && (code[i + 2] >> 3 & 7) == number &&
        std::find(std::begin(kWrites), std::end(kWrites), code[i + 1]) != std::end(kWrites)) {
      return true;
    }
  }
  return false;
}

// gcc notes its options in the unit's producer. `option` or a particular processor is among them.
bool is_built_for(const std::string& producer, const char* option) {
  const std::string all = producer + " ";
  const bool plain = all.find("-march=") == std::string::npos ||
                     all.find("-march=x86-64 ") != std::string::npos ||
                     all.find("-march=x86-64-v2 ") != std::string::npos;
  return all.find(option) != std::string::npos || !plain;
}

// The type that fills it, a struct's only member and so on down; none: it has several parts.
TypeDie innermost(TypeDie type, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || depth > 16 || !is_struct(&*type)) {
    return depth > 16 ? TypeDie{} : type;
  }
  TypeDie only;
  for (Dwarf_Die& child : children(&*type)) {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !flag(&child, DW_AT_external)) {
      if (only) {
        return std::nullopt;
      }
      only = type_of(&child);
    }
  }
  TypeDie inside = strip_type(only, index);
  const bool fills = inside && type_size(&*inside) == type_size(&*type);
  return fills ? innermost(inside, index, depth + 1) : TypeDie{};
}

}  // namespace

bool is_vector_type(Dwarf_Die* type) { return is_array(type) && flag(type, DW_AT_GNU_vector); }

bool is_wide_vector(TypeDie type, DwarfIndex& index) {
  type = innermost(type, index);
  return type && is_vector_type(&*type) && type_size(&*type) > kMaxRegisterBytes;
}

bool is_extended_struct(TypeDie type, DwarfIndex& index) {
  type = innermost(type, index);
  return type && is_extended(&*type);
}

bool keeps_wide_register(Dwarf_Die* function, int number, DwarfIndex& index) {
  constexpr size_t kPrologue = 256;
  constexpr uint8_t kLow = 0x80;
  Bytes code = code_of(function, index);
  code = code.first(std::min(code.size(), kPrologue));
  for (size_t i = 0; i + 5 < code.size(); i++) {
    const bool vex = code[i] == kVex && (code[i + 1] & kVexWide) != 0;
    const bool evex = code[i] == kEvex && (code[i + 3] & kEvexWide) != 0;
    if (!vex && !evex) {
      continue;
    }
    const uint8_t* op = &code[i + (vex ? 2 : 4)];
    const int reg = (op[1] >> 3 & 7) + ((code[i + 1] & kLow) != 0 ? 0 : 8);
    const int rm = op[1] >> 6 == 3 ? op[1] & 7 : -1;
    if ((is_store(op[0]) && reg == number) || (is_load(op[0]) && rm == number)) {
      return true;
    }
    if ((is_load(op[0]) && reg == number) || (is_store(op[0]) && rm == number)) {
      return false;
    }
  }
  return false;
}

std::string producer_of(Dwarf_Die* die) {
  Dwarf_Die unit;
  if (!dwarf_diecu(die, &unit, nullptr, nullptr)) {
    return {};
  }
  std::optional<Dwarf_Attribute> attr = attribute(&unit, DW_AT_producer);
  const char* text = attr ? dwarf_formstring(&*attr) : nullptr;
  return text ? text : "";
}

bool is_made_by_gcc(Dwarf_Die* die) { return producer_of(die).starts_with("GNU "); }

Result<WideReturn> wide_return(Dwarf_Die* function, uint64_t bytes, bool is_struct,
                               DwarfIndex& index) {
  const std::string producer = producer_of(function);
  const bool gcc = is_made_by_gcc(function);
  const bool fits = bytes <= 8 * arch::words_of(arch::kXmm0);
  const Bytes code = code_of(function, index);
  if (!gcc && writes_old_way(code, int(bytes / kMaxRegisterBytes) - 1)) {
    return is_struct ? WideReturn::Memory : WideReturn::Parts;
  }
  bool wide = false;
  for (size_t i = 0; i + 5 <= code.size() && !wide; i++) {
    wide = makes_wide_value(code, i);
  }
  if (fits && (wide || (gcc && producer.find("-mavx") != std::string::npos))) {
    return WideReturn::Register;
  }
  if (gcc && !is_built_for(producer, fits ? "-mavx" : "-mavx512")) {
    return WideReturn::Memory;
  }
  return Error{fits ? "its code does not show whether that is ymm0, two registers or memory"
                    : "a vector of more than 32 bytes in such registers cannot be read",
               Fail::Unsupported};
}

}  // namespace dj
