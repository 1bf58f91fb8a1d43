// StackInfo: what one module's file says for walking and naming stacks; plain data between
// compiler/debuginfo, which reads it, and runtime/control, which lays it into the arena.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/shared/unwind.h"

namespace dj {

// One function's name for stack listings.
struct StackSymbol {
  uint64_t address = 0, size = 0;  // ELF address; size 0: not known
  std::string name;                // as a person writes it
};

struct StackInfo {
  uint64_t base = 0;                   // lowest ELF address of the module; rows count from it
  std::vector<abi::UnwindRow> rows;    // ascending; where no rule is known, one with rule 0 stands
  std::vector<abi::UnwindRule> rules;  // rules[0] is End
  std::vector<StackSymbol> symbols;    // ascending by address, one a place
};

// Does any body of the script walk or name the program's stack? Then the session needs StackTables.
bool walks_stack(const Program& program);
// Does any of its functions?
bool functions_walk_stack(const Program& program);

}  // namespace dj
