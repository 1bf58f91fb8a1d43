// SPDX-License-Identifier: Apache-2.0
// Unit: the state of one lower() run, shared by the bodies of all handlers and functions: the LLVM
// module, the declared agent entries, string texts and script places.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/stages/image.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "compiler/stages/result_use.h"
#include "runtime/shared/context.h"
#include "stdlib/builtins.h"

namespace dj::ir {

// HandlerNeeds says what handlers do beside what their probes say, by HandlerId.
struct HandlerNeeds {
  HandlerNeeds(const Program& program, const Plan& plan);

  const std::vector<bool> waits;        // handlers_that_wait()
  const std::vector<bool> of_calls;     // handlers_of_calls()
  const std::vector<bool> of_syscalls;  // handlers_of_syscalls()
  const std::vector<bool> of_children;  // handlers_of_children()
  const bool target_ends;               // target_ends_session()
};

class Unit {
 public:
  Unit(llvm::Module& module, const Program& program, const Plan& plan, const Layout& layout);

  const Program& program;
  const Plan& plan;
  const Layout& layout;
  const HandlerNeeds handlers;
  llvm::Module& module;
  llvm::LLVMContext& context;
  llvm::Type* const word;  // i64: every script value
  llvm::Type* const half;  // i32
  llvm::Type* const pointer;
  std::vector<llvm::Function*> functions;  // by FunctionId
  std::vector<Span> spans;                 // by dj_raise's span index

  // An agent entry of runtime/shared/entries.h.
  llvm::FunctionCallee entry(std::string_view name);
  llvm::FunctionCallee builtin(const Builtin& row, std::string_view parameter_kinds,
                               bool returns_string, bool returns_void);
  // A Str with this text in the module's read-only data.
  llvm::Constant* text(const std::string& text);
  // A structure of these 32-bit and smaller fields in the module's read-only data.
  llvm::Constant* constant(llvm::ArrayRef<llvm::Constant*> fields, const char* name);
  // Address of the ArenaRef<const Str> to the interned Str of `text` (one of
  // Layout::strings.texts).
  uint64_t constant_ref(const std::string& text) const;
  uint32_t span_index(Span span);
  llvm::Constant* address(uint64_t arena_address) const;  // as a pointer constant
  llvm::Constant* number(int64_t value) const { return llvm::ConstantInt::getSigned(word, value); }
  llvm::Constant* number32(uint32_t value) const { return llvm::ConstantInt::get(half, value); }

 private:
  llvm::FunctionCallee declare(std::string_view name, std::string_view kinds);

  struct Texts {
    std::map<std::string, uint64_t, std::less<>> in_arena;  // address of the ArenaRef<const Str>
    std::map<std::string, llvm::Constant*, std::less<>> in_module;
  } texts_;
};

}  // namespace dj::ir
