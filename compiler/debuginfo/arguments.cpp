// SPDX-License-Identifier: Apache-2.0
// Asks the convention of a function's calls for the places of arguments and results.
#include "compiler/debuginfo/arguments.h"

#include "compiler/debuginfo/convention.h"
#include "compiler/debuginfo/lost_results.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"
#include "compiler/debuginfo/windows_abi.h"

namespace dj {

namespace {

// clang before its version 17 takes results away that no caller uses, and does not say so. Code
// that it has optimized describes its calls.
bool may_have_lost_result(Dwarf_Die* function, DwarfIndex& index) {
  constexpr int kFirstThatSays = 17;
  Dwarf_Addr begin = 0;
  const bool optimized =
      flag(function, DW_AT_call_all_calls) || flag(function, DW_AT_GNU_all_call_sites);
  return optimized && clang_version(function) > 0 && clang_version(function) < kFirstThatSays &&
         dwarf_lowpc(function, &begin) == 0 && !index.is_global_function(begin + index.bias()) &&
         !callers_use_result(function, index);
}

}  // namespace

bool is_called_otherwise(Dwarf_Die* function) {
  return number(function, DW_AT_calling_convention) == uint64_t{DW_CC_nocall};
}

Result<Spot> result_at_exit(Dwarf_Die* function, DwarfIndex& index) {
  // Rust's functions are nearly all changed so, and mostly keep their results.
  const bool changed = is_called_otherwise(function) && !callers_use_result(function, index);
  if (!is_rust(function) && (changed || may_have_lost_result(function, index))) {
    return Error{"no caller uses the result, and the compiler may have taken it away"};
  }
  switch (convention_of(function, index)) {
    case Convention::SystemV:
      return system_v_result(function, index);
    case Convention::Windows:
      return windows_result(function, index);
    case Convention::Unknown:
      break;
  }
  return Error{"the convention of the function's calls is not known"};
}

Result<Spot> argument_at_entry(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  switch (convention_of(function, index)) {
    case Convention::SystemV:
      return system_v_argument(function, parameter, index);
    case Convention::Windows:
      return windows_argument(function, parameter, index);
    case Convention::Unknown:
      break;
  }
  return Error{"the convention of the function's calls is not known; a line of it knows it"};
}

}  // namespace dj
