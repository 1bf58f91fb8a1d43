// SPDX-License-Identifier: Apache-2.0
// ProgramRegisters: the traced program's registers, read inside of a handler. Locations own one.
// The general registers are what the detour passed; all others change nowhere in a handler (its
// code uses none of them), so the program's values still stand in them.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/lower/code.h"

namespace dj::ir {

// What the site gives a handler.
struct Machine {
  llvm::Value* regs[16] = {};    // by DWARF number, null: not passed
  llvm::Value* rsp = nullptr;    // at the probed instruction
  llvm::Value* flags = nullptr;  // there, or null: not passed
  llvm::Value* entry = nullptr;  // array of entry values (PushEntry), or null
};

class ProgramRegisters {
 public:
  explicit ProgramRegisters(Code& code) : code_(code) {}
  void set_machine(const Machine& machine) { machine_ = machine; }
  const Machine& machine() const { return machine_; }

  // 64 bits of a register (LocStep::PushReg). reg: a number of arch/x86_64/registers.h, word: which
  // 64 bits of it, from 0. What this processor has not fails the code.
  llvm::Value* read(int64_t reg, int64_t word);

 private:
  llvm::Value* wide(int64_t reg, int64_t word);
  llvm::Value* begin_of_copy(int64_t reg, bool upper);
  llvm::Value* first_vector_word(int64_t number);
  llvm::Value* mask(int64_t number);
  llvm::Value* selector(int64_t reg);
  llvm::Value* moved_to_rax(const std::string& bytes);

  Code& code_;
  Machine machine_;
  std::map<int64_t, llvm::Value*> copies_;  // where wide registers were stored; see wide()
};

}  // namespace dj::ir
