// SPDX-License-Identifier: Apache-2.0
// Asks the unit's producer for the version of LLVM, and the unit for signs of optimization.
#include "compiler/debuginfo/silent_changes.h"

#include <charconv>

#include "compiler/debuginfo/wide_registers.h"

namespace dj {

namespace {

constexpr int kFirstThatSays = 17;

// "rustc version 1.63.0": the number behind the first point.
constexpr int kFirstRustOfThose = 82;  // earlier ones can be built with LLVM 16

int number_behind(const std::string& text, std::string_view words) {
  const size_t at = text.find(words);
  int number = 0;
  if (at != std::string::npos) {
    std::from_chars(text.data() + at + words.size(), text.data() + text.size(), number);
  }
  return number;
}

bool is_of_silent_llvm(Dwarf_Die* function) {
  const std::string producer = producer_of(function);
  if (producer.find("rustc version ") != std::string::npos) {
    return number_behind(producer, "rustc version 1.") < kFirstRustOfThose;
  }
  for (const std::string_view words : {"clang version ", "flang version ", "(LLVM "}) {  // LDC's
    const int version = number_behind(producer, words);
    if (version > 0) return version < kFirstThatSays;
  }
  return false;
}

}  // namespace

bool may_be_changed_silently(Dwarf_Die* function, DwarfIndex& index) {
  Dwarf_Addr begin = 0;
  if (!is_of_silent_llvm(function) || dwarf_lowpc(function, &begin) != 0 ||
      index.is_global_function(begin + index.bias())) {
    return false;
  }
  // clang describes the calls in optimized code from DWARF 4 on.
  return flag(function, DW_AT_call_all_calls) || flag(function, DW_AT_GNU_all_call_sites) ||
         index.is_optimized(function);
}

}  // namespace dj
