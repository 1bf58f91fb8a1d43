// SPDX-License-Identifier: Apache-2.0
// StackInfo: what one module's file says for walking and naming stacks; plain data between
// compiler/debuginfo, which reads it, and runtime/session, which lays it into the arena.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/stages/program.h"
#include "runtime/shared/unwind.h"

namespace dj {

// One function's name for stack listings.
struct StackSymbol {
  uint64_t address = 0, size = 0;  // ELF address; size 0: not known
  std::string name;                // as a person writes it
};

// Code of one source line, up to the next entry. file: in StackInfo::files; 0: not known.
struct StackLine {
  uint64_t address = 0;  // ELF address
  uint32_t line = 0, file = 0;
};

// abi::InlineCall and abi::InlineRow, with the texts and ELF addresses.
struct StackCall {
  std::string name;
  uint32_t file = 0, line = 0, outer = 0;
};
struct StackInline {
  uint64_t address = 0;
  uint32_t call = 0;
};

struct StackInfo {
  uint64_t base = 0;                   // lowest ELF address of the module; rows count from it
  std::vector<abi::UnwindRow> rows;    // ascending; where no rule is known, one with rule 0 stands
  std::vector<abi::UnwindRule> rules;  // rules[0] is NoRule
  std::vector<StackSymbol> symbols;    // ascending by address, one a place
  // Only when asked for, and where the file has DWARF:
  std::vector<std::string> files;  // [0] stands for none
  std::vector<StackLine> lines;    // ascending
  std::vector<StackCall> calls;
  std::vector<StackInline> inlines;  // ascending
};

// Does any body of the script walk or name the program's stack? Then the session needs StackTables.
bool walks_stack(const Program& program);
// Does any body ask for source lines or inlined calls of code?
bool names_lines(const Program& program);
// Does any of its functions?
bool functions_walk_stack(const Program& program);

}  // namespace dj
