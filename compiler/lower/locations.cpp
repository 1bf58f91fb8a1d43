// Locations: LocExpr, a postfix program, to straight code. The stack exists only here, at compile
// time.

#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/lower/body.h"

namespace dj::ir {

// Address space 257 is %fs: on x86.
constexpr unsigned kFsSpace = 257;

// movq %xmmN,%rax as bytes: handlers are compiled for a machine without vector registers, which is
// why the program's values still stand in them.
llvm::Value* Body::vector_value(int64_t number) {
  const char* high = number >= 8 ? "0x4c" : "0x48";
  std::string code =
      ".byte 0x66," + std::string(high) + ",0x0f,0x7e," + std::to_string(0xc0 + (number & 7) * 8);
  auto* type = llvm::FunctionType::get(unit_.word, false);
  return b_.CreateCall(type, llvm::InlineAsm::get(type, code, "={ax}", true));
}

// kmovq %kN,%rax.
llvm::Value* Body::mask_value(int64_t number) {
  if (!__builtin_cpu_supports("avx512bw")) {
    fail("this processor has no mask registers");
    return unit_.number(0);
  }
  std::string code = ".byte 0xc4,0xe1,0xfb,0x93," + std::to_string(0xc0 + number);
  auto* type = llvm::FunctionType::get(unit_.word, false);
  return b_.CreateCall(type, llvm::InlineAsm::get(type, code, "={ax}", true));
}

// The registers of the x87 and the vectors change nowhere in a handler, so one copy at its begin is
// good for all of it. Storing them changes no state, be there a pending exception or not: fxsave64
// (of which the x87's stack is read), movups %xmmN, vmovups %ymmN, to (%rax).
llvm::Value* Body::wide_register(int64_t reg, int64_t word) {
  constexpr uint32_t kFxsaveWords = 64, kFxsaveStack = 32, kFxsaveEntry = 16, kXmmWords = 2;
  const bool x87 = arch::is_x87(reg);
  const bool upper = !x87 && word >= kXmmWords;
  if (upper && !__builtin_cpu_supports("avx")) {
    fail("this processor has no vector registers of more than 16 bytes");
    return unit_.number(0);
  }
  llvm::Value*& kept = kept_registers_[x87 ? arch::kSt0 : upper ? -reg : reg];
  if (kept == nullptr) {
    const int64_t number = reg - arch::kXmm0;
    const std::string operand = std::to_string((number & 7) * 8);
    const std::string code = x87 ? "0x48,0x0f,0xae,0x00"
                             : upper
                                 ? (number >= 8 ? "0xc5,0x7c,0x11," : "0xc5,0xfc,0x11,") + operand
                                 : (number >= 8 ? "0x44,0x0f,0x11," : "0x0f,0x11,") + operand;
    llvm::IRBuilder<> at(entry_->getTerminator());
    llvm::AllocaInst* place =
        slot(unit_.word, "wide", x87 ? kFxsaveWords + 1 : uint32_t(arch::words_of(reg)));
    kept = at.CreatePtrToInt(place, unit_.word);
    if (x87) {  // fxsave wants a multiple of 16, which stacks of handlers need not be
      kept = at.CreateAnd(at.CreateAdd(kept, unit_.number(8)), unit_.number(-16));
    }
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {unit_.word}, false);
    at.CreateCall(type, llvm::InlineAsm::get(type, ".byte " + code, "{ax},~{memory}", true),
                  {kept});
  }
  const int64_t offset = word * 8 + (x87 ? kFxsaveStack + (reg - arch::kSt0) * kFxsaveEntry : 0);
  return b_.CreateAlignedLoad(unit_.word, as_pointer(b_.CreateAdd(kept, unit_.number(offset))),
                              llvm::Align(8));
}

// movl %cs,%eax: they stand in a handler as in the program.
llvm::Value* Body::selector_value(int64_t reg) {
  // Instructions count them as DWARF does: es cs ss ds fs gs.
  std::string code = ".byte 0x8c," + std::to_string(0xc0 + (reg - arch::kEs) * 8);
  auto* type = llvm::FunctionType::get(unit_.word, false);
  return b_.CreateCall(type, llvm::InlineAsm::get(type, code, "={ax}", true));
}

llvm::Value* Body::register_value(int64_t reg, int64_t word) {
  if (arch::is_x87(reg) || word > 0) return wide_register(reg, word);
  if (arch::is_vector(reg)) return vector_value(reg - arch::kXmm0);
  if (arch::is_mask(reg)) return mask_value(reg - arch::kMask0);
  if (arch::is_segment(reg)) return selector_value(reg);
  if (reg == arch::kFlags) {
    CHECK(machine_.flags);
    return machine_.flags;
  }
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
  llvm::Value* state = b_.CreateLoad(unit_.half, bad);
  if (lenient_) {
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(unit_.half, lenient_), state), lenient_);
  } else {
    fail_if(b_.CreateICmpNE(state, unit_.number32(0)), span, abi::kErrBadAddress, address);
  }
  return step.b ? extend(word, step.a * 8, true) : word;
}

// Handlers are shared by modules: the bias is looked up by the site.
llvm::Value* Body::site_bias() {
  llvm::Value* row =
      b_.CreateMul(b_.CreateZExt(site_, unit_.word), unit_.number(sizeof(abi::SiteInfo)));
  uint64_t field = unit_.layout.header.sites + offsetof(abi::SiteInfo, bias);
  llvm::Value* address = b_.CreateAdd(row, unit_.number(static_cast<int64_t>(field)));
  return b_.CreateLoad(unit_.word, as_pointer(address));
}

namespace {

using Stack = std::vector<llvm::Value*>;

llvm::Value* pop(Stack& stack) {
  CHECK(!stack.empty());
  llvm::Value* top = stack.back();
  stack.pop_back();
  return top;
}

llvm::Value* pick(const Stack& stack, size_t depth) {
  CHECK(depth < stack.size());
  return stack[stack.size() - 1 - depth];
}

// The script operator that does what a step with two operands does.
ast::BinOp operator_of(LocStep::Op op) {
  using ast::BinOp;
  switch (op) {
    case LocStep::Add:
      return BinOp::Add;
    case LocStep::Sub:
      return BinOp::Sub;
    case LocStep::Mul:
      return BinOp::Mul;
    case LocStep::Div:
      return BinOp::Div;
    case LocStep::Mod:
      return BinOp::Mod;
    case LocStep::And:
      return BinOp::And;
    case LocStep::Or:
      return BinOp::Or;
    case LocStep::Xor:
      return BinOp::Xor;
    case LocStep::Shl:
      return BinOp::Shl;
    case LocStep::Shr:
      return BinOp::UShr;
    case LocStep::Sar:
      return BinOp::Shr;
    case LocStep::Eq:
      return BinOp::Eq;
    case LocStep::Ne:
      return BinOp::Ne;
    case LocStep::Lt:
      return BinOp::Lt;
    case LocStep::Le:
      return BinOp::Le;
    case LocStep::Gt:
      return BinOp::Gt;
    case LocStep::Ge:
      return BinOp::Ge;
    default:
      break;
  }
  CHECK(!"a location step without code");
  __builtin_unreachable();
}

// Steps that only move words about. True: done.
bool shuffle(const LocStep& step, Stack& stack) {
  switch (step.op) {
    case LocStep::Dup:
      stack.push_back(pick(stack, 0));
      return true;
    case LocStep::Over:
      stack.push_back(pick(stack, 1));
      return true;
    case LocStep::Pick:
      stack.push_back(pick(stack, static_cast<size_t>(step.a)));
      return true;
    case LocStep::Drop:
      pop(stack);
      return true;
    case LocStep::Swap:
      CHECK(stack.size() >= 2);
      std::swap(stack.end()[-1], stack.end()[-2]);
      return true;
    case LocStep::Rot:  // the top goes below the two others
      CHECK(stack.size() >= 3);
      std::rotate(stack.end() - 3, stack.end() - 1, stack.end());
      return true;
    default:
      return false;
  }
}

}  // namespace

llvm::Value* Body::stack_read(llvm::Value* address, const LocStep& step) {
  llvm::Type* type = b_.getIntNTy(static_cast<unsigned>(step.a * 8));
  llvm::Value* narrow = b_.CreateAlignedLoad(type, as_pointer(address), llvm::Align(1));
  return step.b ? b_.CreateSExt(narrow, unit_.word) : b_.CreateZExt(narrow, unit_.word);
}

// An entry value that could not be read then cannot be read now.
void Body::note_unread_entry(int64_t slot) {
  const ReturnCapture& capture = handler_->capture;
  if ((capture.lenient >> slot & 1) == 0) return;
  llvm::Value* at =
      b_.CreateConstInBoundsGEP1_64(unit_.word, machine_.entry, capture.values.size());
  llvm::Value* bits = b_.CreateLShr(b_.CreateLoad(unit_.word, at), unit_.number(slot));
  llvm::Value* bad = b_.CreateAnd(b_.CreateTrunc(bits, unit_.half), unit_.number32(1));
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(unit_.half, lenient_), bad), lenient_);
}

llvm::Value* Body::location_push(const LocStep& step, const std::vector<llvm::Value*>& args) {
  switch (step.op) {
    case LocStep::PushReg:
      return register_value(step.a, step.b);
    case LocStep::PushConst:
      return unit_.number(step.a);
    case LocStep::PushArg:
      return args.at(static_cast<size_t>(step.a));
    case LocStep::PushBias:
      return site_bias();
    case LocStep::PushFsBase: {
      auto* self = llvm::ConstantPointerNull::get(llvm::PointerType::get(unit_.context, kFsSpace));
      return b_.CreateLoad(unit_.word,
                           self);  // the thread control block begins with its own address
    }
    case LocStep::PushCall: {
      const Builtin& row = builtins()[static_cast<size_t>(step.a)];
      return b_.CreateCall(unit_.builtin(row, "", false, false), {});
    }
    case LocStep::PushEntry:
      CHECK(machine_.entry);
      if (lenient_) note_unread_entry(step.a);
      return b_.CreateLoad(unit_.word,
                           b_.CreateConstInBoundsGEP1_64(unit_.word, machine_.entry, step.a));
    default:
      return nullptr;
  }
}

// Words of all 64 bits without a sign.
llvm::Value* Body::unsigned_step(LocStep::Op op, llvm::Value* left, llvm::Value* right, Span span) {
  using Predicate = llvm::CmpInst::Predicate;
  if (op == LocStep::Div || op == LocStep::Mod) {
    fail_if(b_.CreateICmpEQ(right, unit_.number(0)), span, abi::kErrDivideByZero, unit_.number(0));
    return op == LocStep::Div ? b_.CreateUDiv(left, right) : b_.CreateURem(left, right);
  }
  const Predicate wanted = op == LocStep::Lt   ? Predicate::ICMP_ULT
                           : op == LocStep::Le ? Predicate::ICMP_ULE
                           : op == LocStep::Gt ? Predicate::ICMP_UGT
                                               : Predicate::ICMP_UGE;
  return b_.CreateZExt(b_.CreateICmp(wanted, left, right), unit_.word);
}

// Null: the step takes two words.
llvm::Value* Body::unary_step(const LocStep& step, llvm::Value* operand, Span span) {
  switch (step.op) {
    case LocStep::Deref:
      return checked_read(operand, step, span);
    case LocStep::StackDeref:
      return stack_read(operand, step);
    case LocStep::Neg:
      return b_.CreateNeg(operand);
    case LocStep::Not:
      return b_.CreateNot(operand);
    case LocStep::DoubleOfInt:
      return step.a != 0 ? b_.CreateCall(unit_.entry("dj_double_of_unsigned"), {operand})
                         : double_of_int(operand);
    case LocStep::DoubleOfFloat:
      return b_.CreateCall(unit_.entry("dj_double_of_float"), {operand});
    case LocStep::FloatOfDouble:
      return b_.CreateCall(unit_.entry("dj_float_of_double"), {operand});
    case LocStep::IntOfDouble:
      return b_.CreateCall(unit_.entry(step.a != 0 ? "dj_unsigned_of_double" : "dj_int_of_double"),
                           {operand});
    case LocStep::Extend:
      return extend(operand, step.a * 8, step.b != 0);
    case LocStep::Half:
      return b_.CreateTrunc(b_.CreateLShr(operand, static_cast<uint64_t>(step.a) * 64), unit_.word);
    case LocStep::Convert:
      return convert_number(step, operand);
    case LocStep::Extract:
      return extend(b_.CreateLShr(operand, unit_.number(step.a)), step.b, step.c != 0);
    default:
      return nullptr;
  }
}

llvm::Value* Body::binary_step(const LocStep& step, llvm::Value* left, llvm::Value* right,
                               Span span) {
  if (step.op == LocStep::DoubleOfExtended)
    return b_.CreateCall(unit_.entry("dj_double_of_extended"), {left, right});
  if (step.op == LocStep::Join || step.op == LocStep::WideCompute)
    return wide_step(step, left, right, span);
  const bool of_doubles = step.op == LocStep::DoubleCompute;
  if (!of_doubles && divides_or_orders(step.op) && step.a != 0)
    return unsigned_step(step.op, left, right, span);
  const ast::BinOp op = operator_of(of_doubles ? static_cast<LocStep::Op>(step.a) : step.op);
  const bool compares = op >= ast::BinOp::Lt && op <= ast::BinOp::Ne;
  if (compares) {
    llvm::Value* truth = of_doubles ? compare_doubles(op, left, right) : compare(op, left, right);
    return b_.CreateZExt(truth, unit_.word);
  }
  return of_doubles ? compute_doubles(op, left, right) : arithmetic(op, left, right, span);
}

void Body::location_step(const LocStep& step, Stack& stack, const std::vector<llvm::Value*>& args,
                         Span span) {
  if (shuffle(step, stack)) return;
  llvm::Value* result = location_push(step, args);
  if (result == nullptr) {
    llvm::Value* right = pop(stack);
    result = unary_step(step, right, span);
    if (result == nullptr) result = binary_step(step, pop(stack), right, span);
  }
  stack.push_back(result);
}

llvm::Value* Body::location(const LocExpr& location, const std::vector<llvm::Value*>& args,
                            Span span) {
  for (const LocStep& step : location.steps) {
    if (step.op == LocStep::Label) return location_with_jumps(location, args, span);
  }
  Stack stack;
  for (const LocStep& step : location.steps) location_step(step, stack, args, span);
  CHECK(!stack.empty());
  return stack.back();
}

}  // namespace dj::ir
