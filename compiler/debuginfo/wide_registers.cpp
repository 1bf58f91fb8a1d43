// Looks for instructions on vector registers of 32 bytes and more, by their prefixes alone.
#include "compiler/debuginfo/wide_registers.h"

#include <algorithm>
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

// vmovups, vmovaps, vmovdqa and their kin: a register to memory or a register, and back.
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

// gcc notes its options in the unit's producer. `option` or a particular processor is among them.
bool is_built_for(const std::string& producer, const char* option) {
  const std::string all = producer + " ";
  const bool plain = all.find("-march=") == std::string::npos ||
                     all.find("-march=x86-64 ") != std::string::npos ||
                     all.find("-march=x86-64-v2 ") != std::string::npos;
  return all.find(option) != std::string::npos || !plain;
}

}  // namespace

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

Result<bool> returns_wide_in_memory(Dwarf_Die* function, uint64_t bytes, DwarfIndex& index) {
  Dwarf_Die unit;
  std::string producer;
  if (dwarf_diecu(function, &unit, nullptr, nullptr)) {
    if (std::optional<Dwarf_Attribute> attr = attribute(&unit, DW_AT_producer)) {
      const char* text = dwarf_formstring(&*attr);
      producer = text ? text : "";
    }
  }
  const bool gcc = producer.starts_with("GNU ");
  const bool fits = bytes <= 8 * arch::words_of(arch::kXmm0);
  const Bytes code = code_of(function, index);
  bool wide = false;
  for (size_t i = 0; i + 5 <= code.size() && !wide; i++) {
    wide = makes_wide_value(code, i);
  }
  if (fits && (wide || (gcc && producer.find("-mavx") != std::string::npos))) {
    return false;
  }
  if (gcc && !is_built_for(producer, fits ? "-mavx" : "-mavx512")) {
    return true;
  }
  return Error{fits ? "its code does not show whether that is ymm0, two registers or memory"
                    : "a vector of more than 32 bytes is known in memory alone",
               Fail::Unsupported};
}

}  // namespace dj
