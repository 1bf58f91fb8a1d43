// SPDX-License-Identifier: Apache-2.0
// Handlers on own stacks; see own_stack.h.
#include "compiler/lower/own_stack.h"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>
#include <vector>

#include "compiler/lower/handler_frame.h"
#include "runtime/shared/own_stack.h"

namespace dj::ir {
namespace {

// Takes down whose frames are too large.
class FrameSizes : public llvm::DiagnosticHandler {
 public:
  explicit FrameSizes(std::set<std::string>& large) : large_(large) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info);
    if (size != nullptr) large_.insert(size->getFunction().getName().str());
    return size != nullptr;
  }

 private:
  std::set<std::string>& large_;
};

constexpr uint64_t kEntryBytes = 14;
constexpr llvm::StringLiteral kRoomFor = "dj_room_for_";

bool is_handler(const llvm::Function& function) {
  return !function.isDeclaration() && function.hasFnAttribute(kFrameLimit);
}

std::vector<llvm::CallBase*> calls_of(llvm::Function& function) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && !call->isInlineAsm() && !llvm::isa<llvm::IntrinsicInst>(call))
      calls.push_back(call);
  }
  return calls;
}

int64_t frame_limit_of(const llvm::Function& handler) {
  int64_t limit = 0;
  handler.getFnAttribute(kFrameLimit).getValueAsString().getAsInteger(10, limit);
  return limit;
}

void set_frame_limit(llvm::Function& handler, int64_t limit) {
  handler.addFnAttr(kFrameLimit, std::to_string(limit));
}

// An entry of the agent whose arguments are all in registers.
bool is_simple_call(const llvm::CallBase& call) {
  constexpr unsigned kWordBits = 64;
  const llvm::Function* callee = call.getCalledFunction();
  unsigned words = 0;
  for (const llvm::Use& argument : call.args()) {
    const llvm::Type* type = argument->getType();
    words += type->isIntegerTy() ? (type->getIntegerBitWidth() + kWordBits - 1) / kWordBits : 1;
  }
  return callee != nullptr && callee->isDeclaration() && words <= kRegisterArguments;
}

// What a handler has on the stack beside registers that it saves.
uint64_t bytes_of_locals(const llvm::Function& handler) {
  uint64_t bytes = 0;
  for (const llvm::Instruction& instruction : handler.getEntryBlock()) {
    const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (local == nullptr) continue;
    bytes += local->getAllocationSize(handler.getParent()->getDataLayout())
                 .value_or(llvm::TypeSize::getFixed(UINT32_MAX));
  }
  return bytes;
}

// What begins a handler: cmpq first_stack,%rsp; jb to `otherwise`.
// first_stack: address of Header::first_stack.
llvm::Constant* entry_code(llvm::Function& handler, llvm::Constant* otherwise,
                           uint64_t first_stack) {
  llvm::LLVMContext& context = handler.getContext();
  llvm::Type *half = llvm::Type::getInt32Ty(context), *word = llvm::Type::getInt64Ty(context);
  const auto bytes = [&context](llvm::ArrayRef<uint8_t> code) {
    return llvm::ConstantDataArray::get(context, code);
  };
  llvm::Constant* body = llvm::ConstantExpr::getAdd(llvm::ConstantExpr::getPtrToInt(&handler, word),
                                                    llvm::ConstantInt::get(word, kEntryBytes));
  llvm::Constant* distance =
      llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(otherwise, word), body);
  return llvm::ConstantStruct::getAnon(
      {bytes({0x48, 0x3b, 0x24, 0x25}), llvm::ConstantInt::get(half, first_stack),
       bytes({0x0f, 0x82}), llvm::ConstantExpr::getTrunc(distance, half)},
      true);
}

// A function that asks the agent to find room for the code of an OwnStackRecord. begin: what comes
// before that.
std::string room_text(std::string_view name, std::string_view begin, std::string_view code,
                      size_t words, abi::OwnStackMust must) {
  return fmt::format(R"(
        .text
        .globl  {0}
        .hidden {0}
        .type   {0}, @function
{0}:
        .cfi_startproc
        {1}
1:      leaq    2f(%rip), %r11
        jmp     dj_find_room
        .cfi_endproc
        .size   {0}, .-{0}
        .section .rodata.dj_own_stack, "a", @progbits
        .p2align 3
2:      .quad   {2}
        .long   {3}, {4}
        .text
)",
                     name, begin, code, words, uint32_t{must});
}

}  // namespace

OwnStacks::OwnStacks(llvm::Module& module, const Layout& layout)
    : module_(module), layout_(layout) {
  module.getContext().setDiagnosticHandler(std::make_unique<FrameSizes>(large_));
}

// On an own stack the return address of the body is not the one in the detour, by which the body
// finds the program's stack; that lies where the own stack's taker has noted.
void OwnStacks::ask_for_program_stack(llvm::Function& body) const {
  llvm::SmallVector<llvm::Instruction*> asked;
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::addressofreturnaddress)
      asked.push_back(&instruction);
  }
  if (asked.empty()) return;
  llvm::Instruction* const first = &*body.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> b(first);
  const auto number = [&b](uint64_t n) { return b.getInt64(n); };
  llvm::Value* slot =
      b.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {b.getPtrTy()}, {});
  llvm::Value* here = b.CreatePtrToInt(slot, b.getInt64Ty());
  llvm::Value* distance =
      b.CreateSub(here, number(layout_.header.own_stacks.address(layout_.arena())));
  llvm::Value* is_own = b.CreateICmpULT(distance, number(abi::kOwnStacksBytes));
  llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(
      is_own, first, false, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(end);
  llvm::Value* last = b.CreateOr(here, number(abi::kOwnStackBytes - 1));
  constexpr uint64_t kNoted =
      offsetof(abi::OwnStackTop, program_stack) + 1 - sizeof(abi::OwnStackTop);
  llvm::Value* noted = b.CreateIntToPtr(b.CreateAdd(last, number(kNoted)), b.getPtrTy());
  llvm::Value* stack = b.CreateLoad(b.getInt64Ty(), noted, true);
  llvm::Value* there =
      b.CreateIntToPtr(b.CreateAdd(stack, number(abi::kAboveProgramStack)), b.getPtrTy());
  b.SetInsertPoint(first);
  llvm::PHINode* either = b.CreatePHI(b.getPtrTy(), 2);
  either->addIncoming(slot, &body.getEntryBlock());
  either->addIncoming(there, end->getParent());
  for (llvm::Instruction* call : asked) {
    call->replaceAllUsesWith(either);
    call->eraseFromParent();
  }
}

llvm::Function* OwnStacks::declare_room(const llvm::Function& whose) {
  const std::string name = kRoomFor.str() + whose.getName().str();
  auto* room = llvm::Function::Create(whose.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                      name, module_);
  room->setCallingConv(whose.getCallingConv());
  room->setDSOLocal(true);
  room->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return room;
}

uint64_t OwnStacks::first_stack() const {
  return layout_.base + offsetof(abi::Header, first_stack);
}

// The entry itself, where it is called with room.
llvm::Function* OwnStacks::room_for_entry(const llvm::Function& entry) {
  const std::string name = entry.getName().str();
  if (llvm::Function* room = module_.getFunction(kRoomFor.str() + name)) return room;
  llvm::Function* room = declare_room(entry);
  room->setAttributes(entry.getAttributes());
  const std::string begin =
      fmt::format("cmpq {}, %rsp\n        jb 1f\n        jmp {}", first_stack(), name);
  module_.appendModuleInlineAsm(room_text(room->getName().str(), begin, name, 0, abi::kMustRun));
  return room;
}

void OwnStacks::give_to_handler(llvm::Function& handler) {
  handler.removeFnAttr(kFrameLimit);
  ask_for_program_stack(handler);
  llvm::Function* room = declare_room(handler);
  handler.setPrologueData(entry_code(handler, room, first_stack()));
  module_.appendModuleInlineAsm(room_text(
      room->getName().str(), "", fmt::format("{} + {}", handler.getName().str(), kEntryBytes),
      handler.arg_size() - kRegisterArguments, abi::kMayBeSkipped));
}

void OwnStacks::give_to_callees(llvm::Function& handler) {
  constexpr int64_t kCallBytes = 16;  // the return address, and what dj_find_room takes
  set_frame_limit(handler, frame_limit_of(handler) - kCallBytes);
  for (llvm::CallBase* call : calls_of(handler))
    call->setCalledFunction(room_for_entry(*call->getCalledFunction()));
}

void OwnStacks::take_from_callees(llvm::Function& handler) {
  for (llvm::CallBase* call : calls_of(handler)) {
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name.starts_with(kRoomFor))
      call->setCalledFunction(module_.getFunction(name.drop_front(kRoomFor.size())));
  }
}

void OwnStacks::give_to_callers() {
  constexpr int64_t kUsualSaves = 112, kUsualSpills = 24;
  std::vector<llvm::Function*> handlers;
  for (llvm::Function& function : module_) {
    if (is_handler(function)) handlers.push_back(&function);
  }
  for (llvm::Function* handler : handlers) {
    const std::vector<llvm::CallBase*> calls = calls_of(*handler);
    if (calls.empty()) continue;
    const bool simple = llvm::all_of(calls, [](const auto* call) { return is_simple_call(*call); });
    const int64_t frame =
        kUsualSaves + kUsualSpills + static_cast<int64_t>(bytes_of_locals(*handler));
    if (simple && frame <= frame_limit_of(*handler)) {
      give_to_callees(*handler);
    } else {
      give_to_handler(*handler);
    }
  }
}

bool OwnStacks::give_to_large() {
  const std::set<std::string> large = std::exchange(large_, {});
  for (const std::string& name : large) {
    llvm::Function* handler = module_.getFunction(name);
    take_from_callees(*handler);
    give_to_handler(*handler);
  }
  return !large.empty();
}

}  // namespace dj::ir
