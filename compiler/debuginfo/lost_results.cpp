// SPDX-License-Identifier: Apache-2.0
// Looks at the code behind each call.
#include "compiler/debuginfo/lost_results.h"

#include <algorithm>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/arguments.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/silent_changes.h"

namespace dj {

namespace {

using arch::ResultRegisters;

// Those in which the function returns what it is declared to return.
ResultRegisters result_registers(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  if (!type) return {};
  const std::optional<Passing> passing =
      is_rust(function) ? passing_in_rust(type, index) : passing_of(type, index);
  if (!passing || passing->memory || passing->wide_vector || passing->by_reference) {
    return {.rax = true, .xmm0 = true, .st0 = true};
  }
  return {.rax = passing->integer > 0,
          .rdx = passing->integer > 1,
          .xmm0 = passing->vector > 0,
          .xmm1 = passing->vector > 1};
}

// LLVM may have taken the function's own result away: what it hands on may be nothing.
bool may_be_changed(Dwarf_Die* function, DwarfIndex& index) {
  return is_called_otherwise(function) || may_be_changed_silently(function, index);
}

// Whether a caller reads what the calls, addresses behind them, have left in these registers.
bool reads(const std::vector<uint64_t>& calls, ResultRegisters left, DwarfIndex& index) {
  const auto code = [&index](uint64_t address) { return index.elf().at(address); };
  return std::any_of(calls.begin(), calls.end(), [&](uint64_t next) {
    std::optional<Dwarf_Die> caller = index.function_at(next - 1);
    const bool hands_on = caller && !may_be_changed(&*caller, index);
    constexpr uint64_t kLength = 5;
    const std::span<const uint8_t> transfer = code(next - kLength);
    constexpr uint8_t kJump = 0xe9;
    if (!transfer.empty() && transfer[0] == kJump) return hands_on;
    const ResultRegisters returned =
        hands_on ? result_registers(&*caller, index) : ResultRegisters{};
    return arch::uses_result(code, next, left, returned);
  });
}

}  // namespace

bool callers_use_result(Dwarf_Die* function, DwarfIndex& index) {
  Dwarf_Addr begin = 0;
  if (dwarf_lowpc(function, &begin) != 0) return false;
  const std::vector<uint64_t> calls = index.transfers_to(begin + index.bias());
  if (calls.empty()) return true;
  const ResultRegisters all = result_registers(function, index);
  // Of two registers that the function returns LLVM takes away one.
  if (all.st0) return reads(calls, all, index);
  return (!all.rax || reads(calls, {.rax = true}, index)) &&
         (!all.rdx || reads(calls, {.rdx = true}, index)) &&
         (!all.xmm0 || reads(calls, {.xmm0 = true}, index)) &&
         (!all.xmm1 || reads(calls, {.xmm1 = true}, index));
}

}  // namespace dj
