// lower(): Plan -> LLVM module -> optimised object. The map of this room.
#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <memory>

#include "compiler/image.h"
#include "compiler/lower/emit.h"
#include "compiler/lower/handlers.h"

namespace dj {

Result<Image> lower(const Program& program, const Plan& plan, const Layout& layout,
                    const EmitOptions& options, std::vector<HandlerAbi>& abis) {
  llvm::LLVMContext context;
  auto module = std::make_unique<llvm::Module>("djtap", context);
  DJ_TRY_DO(ir::prepare(*module));

  ir::Unit unit(*module, program, plan, layout);
  unit.spans = options.spans;
  ir::declare_functions(unit);
  abis.clear();
  for (HandlerId id = 0; id < plan.handlers.size(); ++id) {
    DJ_TRY(HandlerAbi abi, ir::define_handler(unit, id));
    abis.push_back(std::move(abi));
  }
  DJ_TRY_DO(ir::define_called_functions(unit));
  // From here on, the script is LLVM code that calls agent entries.

  DJ_TRY_DO(ir::link_hot_agent(*module, layout.base, options.abi.has_rseq));
  const auto in_target = [](const Handler& handler) { return handler.role != Handler::Role::Host; };
  DJ_TRY_DO(
      ir::optimise(*module, ir::fixed_bytes(program, layout),
                   size_t(std::count_if(plan.handlers.begin(), plan.handlers.end(), in_target))));
  // From here on, what is hot is inlined; the rest is undefined until link().

  Image image;
  image.spans = std::move(unit.spans);
  if (options.want_ir) image.ir = ir::ir_text(*module);
  if (options.want_assembly) {
    DJ_TRY(image.assembly, ir::emit_assembly(*module));
  }
  DJ_TRY(image.object, ir::emit_object(*module));
  return image;
}

}  // namespace dj
