// Locations: LocExpr, a postfix program, to straight code. The stack exists only here, at compile time.
#include <llvm/IR/Intrinsics.h>

#include "arch/x86_64/registers.h"
#include "compiler/lower/body.h"

namespace dj::ir {

// Address space 257 is %fs: on x86.
constexpr unsigned kFsSpace = 257;

llvm::Value* Body::location(const LocExpr& location, const std::vector<llvm::Value*>& args, Span span) {
  std::vector<llvm::Value*> stack;
  for (const LocStep& step : location.steps) {
    llvm::Value* top = location_step(step, stack, args, span);
    if (top) stack.push_back(top);
  }
  CHECK(!stack.empty());
  return stack.back();
}

llvm::Value* Body::register_value(int64_t reg) {
  if (reg == arch::kRsp) {
    CHECK(machine_.rsp);
    return machine_.rsp;
  }
  if (reg < 0 || reg >= arch::kRegCount) {
    fail("values in other than general registers are not built yet");
    return unit_.number(0);
  }
  CHECK(machine_.regs[reg]);
  return machine_.regs[reg];
}

llvm::Value* Body::extend(llvm::Value* word, int64_t bits, bool is_signed) {
  if (bits >= 64) return word;
  llvm::Value* narrow = b_.CreateTrunc(word, b_.getIntNTy(static_cast<unsigned>(bits)));
  return is_signed ? b_.CreateSExt(narrow, unit_.word) : b_.CreateZExt(narrow, unit_.word);
}

llvm::Value* Body::checked_read(llvm::Value* address, const LocStep& step, Span span) {
  llvm::AllocaInst* bad = slot(unit_.half, "bad");
  b_.CreateStore(unit_.number32(0), bad);
  llvm::Value* word = b_.CreateCall(unit_.entry("dj_read"),
                                    {address, unit_.number32(static_cast<uint32_t>(step.a)), bad});
  llvm::Value* failed = b_.CreateICmpNE(b_.CreateLoad(unit_.half, bad), unit_.number32(0));
  fail_if(failed, span, abi::kErrBadAddress, address);
  return step.b ? extend(word, step.a * 8, true) : word;
}

// Handlers are shared by modules: the bias is looked up by the site.
llvm::Value* Body::site_bias() {
  llvm::Value* row = b_.CreateMul(b_.CreateZExt(site_, unit_.word), unit_.number(sizeof(abi::SiteInfo)));
  uint64_t field = unit_.layout.header.sites + offsetof(abi::SiteInfo, bias);
  llvm::Value* address = b_.CreateAdd(row, unit_.number(static_cast<int64_t>(field)));
  return b_.CreateLoad(unit_.word, as_pointer(address));
}

llvm::Value* Body::location_step(const LocStep& step, std::vector<llvm::Value*>& stack,
                                 const std::vector<llvm::Value*>& args, Span span) {
  auto pop = [&stack] {
    CHECK(!stack.empty());
    llvm::Value* top = stack.back();
    stack.pop_back();
    return top;
  };
  auto word_of = [this](llvm::Value* bit) { return b_.CreateZExt(bit, unit_.word); };
  auto pick = [&stack](size_t depth) {
    CHECK(depth < stack.size());
    return stack[stack.size() - 1 - depth];
  };
  switch (step.op) {
    case LocStep::PushReg: return register_value(step.a);
    case LocStep::PushConst: return unit_.number(step.a);
    case LocStep::PushArg: return args.at(static_cast<size_t>(step.a));
    case LocStep::PushBias: return site_bias();
    case LocStep::PushFsBase: {
      auto* self = llvm::ConstantPointerNull::get(llvm::PointerType::get(unit_.context, kFsSpace));
      return b_.CreateLoad(unit_.word, self);  // the thread control block begins with its own address
    }
    case LocStep::PushEntry:
      CHECK(machine_.entry);
      return b_.CreateLoad(unit_.word, b_.CreateConstInBoundsGEP1_64(unit_.word, machine_.entry, step.a));
    case LocStep::Deref: return checked_read(pop(), step, span);
    case LocStep::StackDeref: {
      llvm::Type* type = b_.getIntNTy(static_cast<unsigned>(step.a * 8));
      llvm::Value* narrow = b_.CreateAlignedLoad(type, as_pointer(pop()), llvm::Align(1));
      return step.b ? b_.CreateSExt(narrow, unit_.word) : b_.CreateZExt(narrow, unit_.word);
    }
    case LocStep::Neg: return b_.CreateNeg(pop());
    case LocStep::Not: return b_.CreateNot(pop());
    case LocStep::Dup: return pick(0);
    case LocStep::Over: return pick(1);
    case LocStep::Pick: return pick(static_cast<size_t>(step.a));
    case LocStep::Drop: pop(); return nullptr;
    case LocStep::Swap:
      CHECK(stack.size() >= 2);
      std::swap(stack.end()[-1], stack.end()[-2]);
      return nullptr;
    case LocStep::Rot:  // the top goes below the two others
      CHECK(stack.size() >= 3);
      std::rotate(stack.end() - 3, stack.end() - 1, stack.end());
      return nullptr;
    case LocStep::Extract: {
      llvm::Value* shifted = b_.CreateLShr(pop(), unit_.number(step.a));
      return extend(shifted, step.b, step.c != 0);
    }
    case LocStep::Extend: return extend(pop(), step.a * 8, step.b != 0);
    default: break;
  }
  llvm::Value* right = pop();
  llvm::Value* left = pop();
  using ast::BinOp;
  switch (step.op) {
    case LocStep::Add: return arithmetic(BinOp::Add, left, right, span);
    case LocStep::Sub: return arithmetic(BinOp::Sub, left, right, span);
    case LocStep::Mul: return arithmetic(BinOp::Mul, left, right, span);
    case LocStep::Div: return arithmetic(BinOp::Div, left, right, span);
    case LocStep::Mod: return arithmetic(BinOp::Mod, left, right, span);
    case LocStep::And: return arithmetic(BinOp::And, left, right, span);
    case LocStep::Or: return arithmetic(BinOp::Or, left, right, span);
    case LocStep::Xor: return arithmetic(BinOp::Xor, left, right, span);
    case LocStep::Shl: return arithmetic(BinOp::Shl, left, right, span);
    case LocStep::Shr: return arithmetic(BinOp::UShr, left, right, span);
    case LocStep::Sar: return arithmetic(BinOp::Shr, left, right, span);
    case LocStep::Eq: return word_of(compare(BinOp::Eq, left, right));
    case LocStep::Ne: return word_of(compare(BinOp::Ne, left, right));
    case LocStep::Lt: return word_of(compare(BinOp::Lt, left, right));
    case LocStep::Le: return word_of(compare(BinOp::Le, left, right));
    case LocStep::Gt: return word_of(compare(BinOp::Gt, left, right));
    case LocStep::Ge: return word_of(compare(BinOp::Ge, left, right));
    default: break;
  }
  CHECK(!"a location step without code");
  __builtin_unreachable();
}

}  // namespace dj::ir
