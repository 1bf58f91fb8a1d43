// SPDX-License-Identifier: Apache-2.0
// Flow finds where a register's value may come from: reaching definitions inside one function. It
// walks backwards from an instruction when it is asked.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

// Whether the instruction jumps to an address in a register or in the frame. A jump through other
// memory goes to an address that check 4 sees.
bool jumps_to_own_value(const Insn& insn);

class Flow {
 public:
  Flow(const Module& module, const Function& function);

  struct Definitions {
    std::vector<uint32_t> writers;  // instructions whose write of the register arrives
    bool from_caller = false;       // the value of the function's entry arrives
    bool unknown = false;           // control arrives from a place that Flow cannot see (a landing
                                    // pad)
  };
  // Returns the definitions of the register's value before instruction `at` (index). reg: encoding
  // number.
  Definitions definitions(uint32_t at, uint8_t reg);
  // Returns the definitions of what the instruction `at` reads from memory: the instructions that
  // store a register or a constant by the same operand.
  Definitions stores(uint32_t at);

  const Module& module() const { return module_; }
  const Function& function() const { return function_; }
  // Returns the index of the one instruction that leads to `at`; Function::kNone: several do, or
  // none.
  size_t only_predecessor(uint32_t at) const;
  // Returns registers_written() of instruction `at`, computed once.
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
