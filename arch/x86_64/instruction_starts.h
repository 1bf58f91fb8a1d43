// SPDX-License-Identifier: Apache-2.0
// InstructionStarts knows where the instructions of functions begin. It decodes a function once, at
// the first question about an address in it.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "arch/x86_64/text.h"

namespace dj::arch {

class Module;

class InstructionStarts {
 public:
  // Whether an instruction may begin at `address`; false only if `address` is known to be in the
  // middle of one. function: the function of `module` that holds `address`. All calls pass the same
  // module. Any thread may ask.
  bool may_be(const Module& module, const FunctionRange& function, uint64_t address);

 private:
  struct Decoded {
    uint64_t end = 0;          // starts from here on are unknown
    std::vector<bool> starts;  // by address, from the function's beginning
  };
  static Decoded decode(const Module& module, const FunctionRange& function);
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<const Decoded>> decoded_;  // by function begin
};

}  // namespace dj::arch
