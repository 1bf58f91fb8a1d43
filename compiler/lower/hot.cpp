// SPDX-License-Identifier: Apache-2.0
// The hot part of the agent, as bitcode: linked into the handlers' module so that what a handler
// calls is inlined into it. Cold functions stay undefined and are found in the agent's object by
// link(); so do those that only djtap's own handlers call, which run seldom: compiling is dearer.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <set>

#include "compiler/lower/agent_blob.h"
#include "compiler/lower/emit.h"

namespace dj::ir {
namespace {

// The agent's own functions decide the machine features: inlining demands equal ones.
llvm::AttrBuilder agent_attributes(const llvm::Module& hot) {
  llvm::AttrBuilder attributes(hot.getContext());
  for (const llvm::Function& function : hot) {
    if (!function.hasFnAttribute("target-features")) continue;
    for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs()) {
      bool wanted = attribute.isStringAttribute() &&
                    attribute.getKindAsString() != "frame-pointer" &&
                    attribute.getKindAsString() != "stack-protector-buffer-size";
      if (wanted) attributes.addAttribute(attribute);
    }
    break;
  }
  attributes.addAttribute(llvm::Attribute::NoUnwind);
  attributes.addAttribute(llvm::Attribute::NoImplicitFloat);
  attributes.addAttribute(llvm::Attribute::NoRedZone);
  attributes.addUWTableAttr(llvm::UWTableKind::Async);  // signal handlers unwind out of handlers
  return attributes;
}

void define_constant(llvm::Module& module, const char* name, unsigned bits, uint64_t value) {
  auto* type = llvm::Type::getIntNTy(module.getContext(), bits);
  auto* global = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::ExternalLinkage,
                                          llvm::ConstantInt::get(type, value), name);
  global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  global->setDSOLocal(true);
}

// A call whose type differs from the callee's would be undefined behaviour, and never inlined.
void check_calls(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call) continue;
        const auto* callee = llvm::dyn_cast<llvm::Function>(call->getCalledOperand());
        CHECK(!callee || callee->getFunctionType() == call->getFunctionType());
      }
    }
  }
}

// What handlers of the target run: they themselves and the script's functions they call.
std::set<const llvm::Function*> run_by_target(const llvm::Module& module) {
  std::vector<const llvm::Function*> open;
  for (const llvm::Function& function : module) {
    const bool root = !function.isDeclaration() && !function.hasLocalLinkage();
    if (root && !function.hasFnAttribute(kOwnHandler)) open.push_back(&function);
  }
  std::set<const llvm::Function*> found(open.begin(), open.end());
  while (!open.empty()) {
    const llvm::Function* caller = open.back();
    open.pop_back();
    for (const llvm::Instruction& instruction : llvm::instructions(caller)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && found.insert(callee).second) open.push_back(callee);
    }
  }
  return found;
}

// True: some call is made by the target. The other calls are kept calls.
bool called_by_target(llvm::Function& callee, const std::set<const llvm::Function*>& target) {
  bool any = false;
  for (llvm::User* user : callee.users()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call || target.count(call->getFunction())) {
      any = true;
    } else {
      call->setIsNoInline();
    }
  }
  return any;
}

// Functions that stay in the agent's object have another name while bitcode is linked in.
constexpr llvm::StringLiteral kKept = "kept.";

void hide_from_bitcode(llvm::Module& module) {
  const std::set<const llvm::Function*> target = run_by_target(module);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    if (!called_by_target(function, target)) function.setName(kKept + function.getName());
  }
}

void show_again(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.getName().starts_with(kKept)) continue;
    const std::string name = function.getName().substr(kKept.size()).str();
    if (llvm::Function* linked = module.getFunction(name)) {  // others of the agent call it
      function.replaceAllUsesWith(linked);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

}  // namespace

Status link_hot_agent(llvm::Module& module, uint64_t arena_base, bool has_rseq, Effort effort) {
  std::string_view bytes = agent_hot();
  auto buffer = llvm::MemoryBuffer::getMemBuffer({bytes.data(), bytes.size()}, "agent", false);
  auto hot = llvm::getOwningLazyBitcodeModule(std::move(buffer), module.getContext());
  if (!hot) return Error{"the agent's bitcode: " + llvm::toString(hot.takeError())};
  (*hot)->setDataLayout(module.getDataLayout());
  (*hot)->setTargetTriple(module.getTargetTriple());

  llvm::AttrBuilder attributes = agent_attributes(**hot);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) function.addFnAttrs(attributes);
  }
  define_constant(module, "dj_arena_base", 64, arena_base);
  define_constant(module, "dj_has_rseq", 32, has_rseq);
  if (effort == Effort::Small) return ok_status();
  hide_from_bitcode(module);
  if (llvm::Linker::linkModules(module, std::move(*hot), llvm::Linker::Flags::LinkOnlyNeeded)) {
    return Error{"the agent's bitcode does not fit the handlers"};
  }
  show_again(module);
  llvm::internalizeModule(module, [](const llvm::GlobalValue& value) {
    auto named = [&](const char* prefix) { return value.getName().starts_with(prefix); };
    return named("dj_handler_") || named("dj_leave_") || named("dj_land_") ||
           value.getName() == "dj_arena_base" || value.getName() == "dj_has_rseq";
  });
  check_calls(module);
  for (const char* noise : {"llvm.ident", "llvm.linker.options"}) {
    if (llvm::NamedMDNode* node = module.getNamedMetadata(noise)) node->eraseFromParent();
  }
  return ok_status();
}

}  // namespace dj::ir
