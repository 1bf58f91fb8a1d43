// SPDX-License-Identifier: Apache-2.0
// Looks at the code behind each call.
#include "compiler/debuginfo/lost_results.h"

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/call_sites.h"

namespace dj {

bool callers_use_result(Dwarf_Die* function, DwarfIndex& index) {
  const auto code = [&index](uint64_t address) { return index.elf().at(address); };
  const std::vector<CallSite>& calls = index.call_sites().of(function);
  for (const CallSite& call : calls) {
    if (arch::uses_result(code, call.return_pc + index.bias())) return true;
  }
  return calls.empty();
}

}  // namespace dj
