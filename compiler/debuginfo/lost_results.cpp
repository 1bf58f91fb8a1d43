// SPDX-License-Identifier: Apache-2.0
// Looks at the code behind each call.
#include "compiler/debuginfo/lost_results.h"

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/call_sites.h"
#include "compiler/debuginfo/rust_passing.h"

namespace dj {

namespace {

// Those in which the function returns what it is declared to return.
arch::ResultRegisters result_registers(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  if (!type) return {false, false, false};
  if (is_rust(function)) return {};
  const Passing passing = passing_of(type, index);
  if (passing.memory || passing.wide_vector) return {};
  return {passing.integer > 0, passing.vector > 0, false};
}

}  // namespace

bool callers_use_result(Dwarf_Die* function, DwarfIndex& index) {
  const auto code = [&index](uint64_t address) { return index.elf().at(address); };
  const arch::ResultRegisters left = result_registers(function, index);
  const std::vector<CallSite>& calls = index.call_sites().of(function);
  for (const CallSite& call : calls) {
    Dwarf_Die caller = call.caller;
    const arch::ResultRegisters returned = result_registers(&caller, index);
    if (arch::uses_result(code, call.return_pc + index.bias(), left, returned)) return true;
  }
  return calls.empty();
}

}  // namespace dj
