// SPDX-License-Identifier: Apache-2.0
// Jump tables that are read too far, and those of functions that nobody calls, have thousands of
// entries in a few other functions: decoding up to each took minutes for a library of 150 MB.
#include "arch/x86_64/instruction_starts.h"

#include <utility>

#include "arch/x86_64/module.h"

namespace dj::arch {

InstructionStarts::Decoded InstructionStarts::decode(const Module& module,
                                                     const FunctionRange& function) {
  const Function code = module.decode(function);
  Decoded decoded;
  decoded.end = code.decoded_end();
  decoded.starts.resize(decoded.end - function.begin);
  for (const Insn& insn : code.insns) decoded.starts[insn.address - function.begin] = true;
  return decoded;
}

// Two threads that ask for one function at the same time may both decode it.
bool InstructionStarts::may_be(const Module& module, const FunctionRange& function,
                               uint64_t address) {
  const Decoded* known = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = decoded_.find(function.begin);
    if (found != decoded_.end()) known = found->second.get();
  }
  if (known == nullptr) {
    auto fresh = std::make_unique<const Decoded>(decode(module, function));
    const std::lock_guard lock(mutex_);
    known = decoded_.try_emplace(function.begin, std::move(fresh)).first->second.get();
  }
  return address >= known->end || known->starts[address - function.begin];
}

}  // namespace dj::arch
