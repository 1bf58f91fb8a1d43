// SPDX-License-Identifier: Apache-2.0
// lower(): Plan -> LLVM module -> optimised object. The map of this room.
#include "compiler/lower/lower.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <memory>

#include "compiler/lower/alignment_check.h"
#include "compiler/lower/emit.h"
#include "compiler/lower/handlers.h"
#include "compiler/lower/llvm_failure.h"
#include "compiler/lower/own_stack.h"

namespace dj::ir {
namespace {

// What decides, beside the module, what comes out.
struct Task {
  FixedBytes fixed;
  size_t handlers;  // that run in the target
  const Layout& layout;
  bool has_rseq;
};

size_t in_target(const Plan& plan) {
  const auto runs_there = [](const Handler& handler) {
    return handler.role != Handler::Role::Host;
  };
  return static_cast<size_t>(std::count_if(plan.handlers.begin(), plan.handlers.end(), runs_there));
}

std::string key_of(const llvm::Module& module, const Task& task) {
  return object_key(module, task.fixed, task.handlers, task.layout.base, task.has_rseq);
}

// LLVM code that calls agent entries, to the image's object and texts.
Status compile(Backend& backend, llvm::Module& module, const Task& task, const EmitOptions& options,
               Image& image) {
  const Effort effort = effort_for(task.handlers);
  DJ_TRY_DO(link_hot_agent(module, task.layout.base, task.has_rseq, effort));
  DJ_TRY_DO(optimise(backend, module, task.fixed, task.handlers));
  // From here on, what is hot is inlined; the rest is undefined until link().
  mind_alignment(module);
  if (options.want_ir) image.ir = ir_text(module);
  OwnStacks stacks(module, task.layout);
  stacks.give_to_callers();
  if (options.want_assembly) {
    DJ_TRY(image.assembly, emit_assembly(backend, module, effort));
  }
  DJ_TRY(image.object, emit_object(backend, module, effort));
  if (stacks.give_to_large()) {
    DJ_TRY(image.object, emit_object(backend, module, effort));
  }
  return ok_status();
}

}  // namespace

Result<Image> lower(Backend& backend, const Program& program, const Plan& plan,
                    const Layout& layout, const EmitOptions& options,
                    std::vector<HandlerAbi>& abis) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("djtap", *context);
  DJ_TRY_DO(prepare(backend, *module));

  Unit unit(*module, program, plan, layout);
  unit.spans = options.spans;
  declare_functions(unit);
  abis.clear();
  for (HandlerId id = 0; id < plan.handlers.size(); ++id) {
    DJ_TRY(HandlerAbi abi, define_handler(unit, id));
    abis.push_back(std::move(abi));
  }
  DJ_TRY_DO(define_called_functions(unit));
  // From here on, the script is LLVM code that calls agent entries.

  Image image;
  image.spans = std::move(unit.spans);
  const bool keeps = options.kept != nullptr && !options.want_ir && !options.want_assembly;
  const Task task{fixed_bytes(program, layout), in_target(plan), layout, options.abi.has_rseq};
  const std::string key = keeps ? key_of(*module, task) : "";
  if (keeps) image.object = options.kept->find(key);
  image.is_cached = !image.object.empty();
  if (image.is_cached) return image;
  const Status done = survive([&] { return compile(backend, *module, task, options, image); });
  if (!done.ok()) {  // perhaps in the middle of a pass, so that it cannot be freed
    static_cast<void>(module.release());   // NOLINT(bugprone-unused-return-value)
    static_cast<void>(context.release());  // NOLINT(bugprone-unused-return-value)
    return done.error();
  }
  if (keeps) options.kept->keep(key, image.object);
  return image;
}

}  // namespace dj::ir
