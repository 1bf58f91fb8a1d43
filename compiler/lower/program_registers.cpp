// SPDX-License-Identifier: Apache-2.0
// Registers: those that were passed, and instructions that read the others. They are bytes:
// handlers are compiled for a machine without vector registers, which is why the program's values
// still stand in them.
#include "compiler/lower/program_registers.h"

#include <llvm/IR/InlineAsm.h>

#include "arch/x86_64/registers.h"
#include "compiler/lower/alignment_check.h"

namespace dj::ir {

// An instruction whose result is in %rax.
llvm::Value* ProgramRegisters::moved_to_rax(const std::string& bytes) {
  auto* type = llvm::FunctionType::get(code_.unit.word, false);
  return code_.b.CreateCall(type, llvm::InlineAsm::get(type, ".byte " + bytes, "={ax}", true));
}

// movq %xmmN,%rax.
llvm::Value* ProgramRegisters::first_vector_word(int64_t number) {
  const char* prefix = number >= 8 ? "0x4c" : "0x48";
  return moved_to_rax("0x66," + std::string(prefix) + ",0x0f,0x7e," +
                      std::to_string(0xc0 + (number & 7) * 8));
}

// kmovq %kN,%rax.
llvm::Value* ProgramRegisters::mask(int64_t number) {
  if (!__builtin_cpu_supports("avx512bw")) {
    code_.fail("this processor has no mask registers");
    return code_.number(0);
  }
  return moved_to_rax("0xc4,0xe1,0xfb,0x93," + std::to_string(0xc0 + number));
}

// movl %cs,%eax: they stand in a handler as in the program.
llvm::Value* ProgramRegisters::selector(int64_t reg) {
  // Instructions count them as DWARF does: es cs ss ds fs gs.
  return moved_to_rax("0x8c," + std::to_string(0xc0 + (reg - arch::kEs) * 8));
}

namespace {

constexpr uint32_t kFxsaveWords = 64, kFxsaveStack = 32, kFxsaveEntry = 16, kXmmWords = 2;

// The instruction that stores the register to (%rax): fxsave64 (of which the x87's stack is read),
// movups %xmmN, vmovups %ymmN. None changes any state, be there a pending exception or not.
std::string store_instruction(int64_t reg, bool upper) {
  if (arch::is_x87(reg)) return "0x48,0x0f,0xae,0x00";
  const int64_t number = reg - arch::kXmm0;
  const std::string operand = std::to_string((number & 7) * 8);
  if (upper) return (number >= 8 ? "0xc5,0x7c,0x11," : "0xc5,0xfc,0x11,") + operand;
  return (number >= 8 ? "0x44,0x0f,0x11," : "0x0f,0x11,") + operand;
}

}  // namespace

// Stores the register where the code begins; returns the copy's address.
llvm::Value* ProgramRegisters::begin_of_copy(int64_t reg, bool upper) {
  const bool x87 = arch::is_x87(reg);
  Unit& unit = code_.unit;
  llvm::IRBuilder<> at(code_.first_place());
  llvm::AllocaInst* place =
      code_.slot(unit.word, "wide", x87 ? kFxsaveWords + 1 : uint32_t(arch::words_of(reg)));
  llvm::Value* begin = at.CreatePtrToInt(place, unit.word);
  if (x87) {  // fxsave wants a multiple of 16, which stacks of handlers need not be
    begin = at.CreateAnd(at.CreateAdd(begin, unit.number(8)), unit.number(-16));
  }
  auto* type = llvm::FunctionType::get(at.getVoidTy(), {unit.word}, false);
  const std::string bytes = ".byte " + store_instruction(reg, upper);
  if (!x87) at.GetInsertBlock()->getParent()->addFnAttr(kUnaligned);
  at.CreateCall(type, llvm::InlineAsm::get(type, bytes, "{ax},~{memory}", true), {begin});
  return begin;
}

// The registers of the x87 and the vectors change nowhere in a handler, so one copy at its begin is
// good for all of it.
llvm::Value* ProgramRegisters::wide(int64_t reg, int64_t word) {
  const bool x87 = arch::is_x87(reg);
  const bool upper = !x87 && word >= kXmmWords;
  if (upper && !__builtin_cpu_supports("avx")) {
    code_.fail("this processor has no vector registers of more than 16 bytes");
    return code_.number(0);
  }
  llvm::Value*& copy = copies_[x87 ? arch::kSt0 : upper ? -reg : reg];
  if (copy == nullptr) copy = begin_of_copy(reg, upper);
  const int64_t offset = word * 8 + (x87 ? kFxsaveStack + (reg - arch::kSt0) * kFxsaveEntry : 0);
  return code_.b.CreateAlignedLoad(code_.unit.word,
                                   code_.as_pointer(code_.b.CreateAdd(copy, code_.number(offset))),
                                   llvm::Align(8));
}

llvm::Value* ProgramRegisters::read(int64_t reg, int64_t word) {
  if (arch::is_x87(reg) || word > 0) return wide(reg, word);
  if (arch::is_vector(reg)) return first_vector_word(reg - arch::kXmm0);
  if (arch::is_mask(reg)) return mask(reg - arch::kMask0);
  if (arch::is_segment(reg)) return selector(reg);
  if (reg == arch::kFlags) {
    CHECK(machine_.flags);
    return machine_.flags;
  }
  if (reg == arch::kRsp) {
    CHECK(machine_.rsp);
    return machine_.rsp;
  }
  if (reg < 0 || reg >= arch::kRegCount) {
    code_.fail("values in other than general registers are not built yet");
    return code_.number(0);
  }
  CHECK(machine_.regs[reg]);
  return machine_.regs[reg];
}

}  // namespace dj::ir
