// SPDX-License-Identifier: Apache-2.0
// Asks the convention of a function's calls for the places of arguments and results.
#include "compiler/debuginfo/arguments.h"

#include "compiler/debuginfo/convention.h"
#include "compiler/debuginfo/lost_results.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/silent_changes.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"
#include "compiler/debuginfo/windows_abi.h"

namespace dj {

namespace {

// In memory that its caller gives a function of Rust's stores its result in any case.
bool may_have_lost_result(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  const bool stays =
      is_rust(function) && type && is_returned_in_memory_by_rust(type, index) == true;
  return !stays && (is_called_otherwise(function) || may_be_changed_silently(function, index)) &&
         !callers_use_result(function, index);
}

}  // namespace

bool is_called_otherwise(Dwarf_Die* function) {
  return number(function, DW_AT_calling_convention) == uint64_t{DW_CC_nocall};
}

Result<ValueLocation> result_at_exit(Dwarf_Die* function, DwarfIndex& index) {
  if (may_have_lost_result(function, index)) {
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

Result<ValueLocation> argument_at_entry(Dwarf_Die* function, Dwarf_Die* parameter,
                                        DwarfIndex& index) {
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
