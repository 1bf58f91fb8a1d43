// SPDX-License-Identifier: Apache-2.0
// StackTables holds what a handler needs to walk the program's stack without frame pointers and to
// name its functions: call frame information (DWARF 5, section 6.4) and symbols of all mapped
// modules, precompiled into sorted tables. The controller writes them and handlers read them
// without locks: what is there never changes, modules that come later are written behind it, and a
// new index says so.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/atomic.h"

namespace dj::abi {

// Registers that a function gives back as it got them (System V ABI) and that frames may lie at.
enum SavedRegister : uint8_t { kRbx, kRbp, kR12, kR13, kR14, kR15, kSavedRegisters };
constexpr int32_t kNotSaved = INT32_MIN;  // the caller's value is still in the register

// UnwindRule: where the caller's frame is, seen from one place in the code. CFA: the caller's stack
// pointer behind its call; the return address lies right below it.
struct UnwindRule {
  enum Kind : uint8_t {
    End,        // the outermost frame, or a rule of a form that is not understood
    NoRule,     // nothing is known: as code that a program made, it may keep frame pointers
    FromStack,  // CFA = stack pointer + offset
    FromSaved,  // CFA = saved register `base` + offset
    StoredAt,   // CFA = word at (saved register `base` + offset): functions that realign the stack
    StoredOnStack,  // CFA = word at (stack pointer + offset), and `plus` more: assembler that does
    Linkage,        // PLT entry: CFA = stack pointer + 8, and 8 more from byte `base` of each 16 on
    SignalFrame     // the kernel's frame: everything is in the ucontext at the stack pointer
  } kind = End;
  uint8_t base = 0;
  // 0: copies of registers lie relative to the CFA; else to what saved register saved_from - 1 has.
  uint8_t saved_from = 0;
  int32_t offset = 0, plus = 0;
  int32_t saved[kSavedRegisters] = {kNotSaved, kNotSaved, kNotSaved,
                                    kNotSaved, kNotSaved, kNotSaved};  // offset of the copy
};

// From this place on, up to the next row, `rule` holds. Places are offsets from the module's
// origin.
struct UnwindRow {
  uint32_t at = 0, rule = 0;
};

// One function: where it is and its name as print says it. name: offset of a Str in the tables.
struct SymbolRow {
  uint32_t at = 0, size = 0, name = 0;
};

// From this place on, up to the next row, the code is of this source line. file: offset of a Str;
// 0: not known.
struct LineRow {
  uint32_t at = 0, line = 0, file = 0;
};

// A function that the compiler put into its caller's code: its name (a Str), and where it is
// called. outer: 1 + index of the call that this one is in; 0: in the function itself.
struct InlineCall {
  uint32_t name = 0, file = 0, line = 0, outer = 0;
};

// From this place on, up to the next row, the innermost such call is number `call`, counted from 1;
// 0: none.
struct InlineRow {
  uint32_t at = 0, call = 0;
};

// One mapped module. Offsets count from the StackTables.
struct StackModule {
  uint64_t begin = 0, end = 0;  // runtime addresses; both 0: none
  uint64_t origin = 0;          // of its lowest ELF address
  uint32_t rows = 0, row_count = 0;
  uint32_t rules = 0;
  uint32_t symbols = 0, symbol_count = 0;
  uint32_t path = 0;  // Str
  // Empty unless the script asks for source lines.
  uint32_t lines = 0, line_count = 0;
  uint32_t inlines = 0, inline_count = 0;
  uint32_t calls = 0;
  uint32_t state = 0;
};
// StackModule::state. Gone: the program has closed it; what was kept of its addresses is named
// still. Shared: other objects have been there before, so what was kept may be of those.
constexpr uint32_t kModuleGone = 1, kModuleShared = 2;

struct StackIndex {
  uint64_t count;
  StackModule modules[1];  // really count, ascending
};

struct StackTables {
  uint64_t index;  // how often it was exchanged, and in the low half the offset of the StackIndex
  uint64_t max_frames;  // MAXBACKTRACE
};

template <typename T>
inline const T* in_tables(const StackTables* tables, uint32_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<uint64_t>(tables) + offset);
}

inline StackModule find_in_index(const StackIndex* index, uint64_t address, uint32_t unwanted) {
  uint64_t low = 0, high = index->count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    const StackModule& module = index->modules[middle];
    if (address < module.begin) {
      high = middle;
    } else if (address >= module.end) {
      low = middle + 1;
    } else {
      return (module.state & unwanted) == 0 ? module : StackModule();
    }
  }
  return {};
}

// The module that lies there, unless its state is unwanted. A copy: an index that was exchanged
// twice is written anew, so what was read counts if it has not been exchanged meanwhile.
inline StackModule find_stack_module(const StackTables* tables, uint64_t address,
                                     uint32_t unwanted) {
  while (true) {
    const uint64_t index = load(&tables->index);
    const StackModule found = find_in_index(
        in_tables<StackIndex>(tables, static_cast<uint32_t>(index)), address, unwanted);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (load(&tables->index) == index) return found;
  }
}

// The last row with at <= offset in an ascending table; null: none.
template <typename Row>
inline const Row* last_row(const Row* rows, uint32_t count, uint64_t offset) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (rows[middle].at <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : &rows[low - 1];
}

}  // namespace dj::abi
