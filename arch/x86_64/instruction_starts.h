// SPDX-License-Identifier: Apache-2.0
// InstructionStarts: where the instructions of functions begin. It decodes each function once, when
// an address of it is asked about first.
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
  // False only for what is known to be the middle of an instruction. function: of `module`, the
  // same for all calls; it holds `address`. Any thread may ask.
  bool may_be(const Module& module, const FunctionRange& function, uint64_t address);

 private:
  struct Decoded {
    uint64_t end = 0;          // nothing is known from here on
    std::vector<bool> starts;  // by address, from the function's beginning
  };
  static Decoded decode(const Module& module, const FunctionRange& function);
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<const Decoded>> decoded_;  // by where they begin
};

}  // namespace dj::arch
