// SPDX-License-Identifier: Apache-2.0
// Where a register's value may come from: reaching definitions inside one function, walked
// backwards on demand.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

// To an address in a register or in the frame: through other memory it goes where check 4 looks.
bool jumps_to_own_value(const Insn& insn);

class Flow {
 public:
  Flow(const Module& module, const Function& function);

  struct Definitions {
    std::vector<uint32_t> writers;  // instructions whose write of the register arrives
    bool from_caller = false;       // the value of the function's entry arrives
    bool unknown = false;           // control arrives from where we cannot see (a landing pad)
  };
  Definitions definitions(uint32_t at, uint8_t reg);
  // The same of what the instruction `at` reads from memory: where registers or a constant are
  // stored to the same place, as the operand says it.
  Definitions stores(uint32_t at);

  const Function& function() const { return function_; }
  // The one instruction that leads to `at`; Function::kNone: several, or none.
  size_t only_predecessor(uint32_t at) const;
  uint16_t written(uint32_t at);

 private:
  template <typename Writes>
  Definitions last_before(uint32_t at, const Writes& writes);

  const Module& module_;
  const Function& function_;
  std::vector<uint32_t> first_;  // predecessors of i: edges_[first_[i] .. first_[i+1])
  std::vector<uint32_t> edges_;
  std::vector<uint32_t> indirect_;  // register-indirect jumps
  std::vector<uint32_t> written_;   // cache of registers_written
};

}  // namespace dj::arch
