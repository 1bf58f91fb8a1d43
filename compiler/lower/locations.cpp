// SPDX-License-Identifier: Apache-2.0
// Locations: what each step of a LocExpr becomes.
#include "compiler/lower/locations.h"

#include <algorithm>

#include "compiler/lower/doubles.h"
#include "compiler/lower/operators.h"
#include "compiler/lower/wide_numbers.h"

namespace dj::ir {

namespace {

// Address space 257 is %fs: on x86.
constexpr unsigned kFsSpace = 257;

llvm::Value* pick(const LocationStack& stack, size_t depth) {
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
bool shuffle(const LocStep& step, LocationStack& stack) {
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

llvm::Value* extend(Code& code, llvm::Value* word, int64_t bits, bool is_signed) {
  if (bits >= 64) return word;
  llvm::Value* narrow = code.b.CreateTrunc(word, code.b.getIntNTy(static_cast<unsigned>(bits)));
  return is_signed ? code.b.CreateSExt(narrow, code.unit.word)
                   : code.b.CreateZExt(narrow, code.unit.word);
}

// Handlers are shared by modules: the bias is looked up by the site.
llvm::Value* site_bias(Code& code) {
  llvm::Value* row = code.b.CreateMul(code.b.CreateZExt(code.site(), code.unit.word),
                                      code.number(sizeof(abi::SiteInfo)));
  uint64_t field = code.unit.layout.header.sites.address(code.unit.layout.arena()) +
                   offsetof(abi::SiteInfo, bias);
  llvm::Value* address = code.b.CreateAdd(row, code.number(static_cast<int64_t>(field)));
  return code.load(code.as_pointer(address));
}

llvm::Value* stack_read(Code& code, llvm::Value* address, const LocStep& step) {
  llvm::Type* type = code.b.getIntNTy(static_cast<unsigned>(step.a * 8));
  llvm::Value* narrow = code.b.CreateAlignedLoad(type, code.as_pointer(address), llvm::Align(1));
  return step.b ? code.b.CreateSExt(narrow, code.unit.word)
                : code.b.CreateZExt(narrow, code.unit.word);
}

// Words of all 64 bits without a sign.
llvm::Value* unsigned_step(Code& code, LocStep::Op op, llvm::Value* left, llvm::Value* right,
                           Span span) {
  using Predicate = llvm::CmpInst::Predicate;
  if (op == LocStep::Div || op == LocStep::Mod) {
    code.fail_if(code.b.CreateICmpEQ(right, code.number(0)), span, abi::kErrDivideByZero,
                 code.number(0));
    return op == LocStep::Div ? code.b.CreateUDiv(left, right) : code.b.CreateURem(left, right);
  }
  const Predicate wanted = op == LocStep::Lt   ? Predicate::ICMP_ULT
                           : op == LocStep::Le ? Predicate::ICMP_ULE
                           : op == LocStep::Gt ? Predicate::ICMP_UGT
                                               : Predicate::ICMP_UGE;
  return code.b.CreateZExt(code.b.CreateICmp(wanted, left, right), code.unit.word);
}

llvm::Value* binary(Code& code, const LocStep& step, llvm::Value* left, llvm::Value* right,
                    Span span) {
  if (step.op == LocStep::DoubleOfExtended)
    return code.call("dj_double_of_extended", {left, right});
  if (step.op == LocStep::Join || step.op == LocStep::WideCompute)
    return wide_step(code, step, left, right, span);
  const bool of_doubles = step.op == LocStep::DoubleCompute;
  if (!of_doubles && divides_or_orders(step.op) && step.a != 0)
    return unsigned_step(code, step.op, left, right, span);
  const ast::BinOp op = operator_of(of_doubles ? static_cast<LocStep::Op>(step.a) : step.op);
  const bool compares = op >= ast::BinOp::Lt && op <= ast::BinOp::Ne;
  if (compares) {
    llvm::Value* truth =
        of_doubles ? compare_doubles(code, op, left, right) : compare(code, op, left, right);
    return code.b.CreateZExt(truth, code.unit.word);
  }
  return of_doubles ? compute_doubles(code, op, left, right)
                    : arithmetic(code, op, left, right, span);
}

}  // namespace

llvm::Value* pop(LocationStack& stack) {
  CHECK(!stack.empty());
  llvm::Value* top = stack.back();
  stack.pop_back();
  return top;
}

void Locations::set_place(const ReturnCapture& capture, const Machine& machine) {
  capture_ = &capture;
  registers_.set_machine(machine);
}

llvm::Value* Locations::checked_read(llvm::Value* address, const LocStep& step, Span span) {
  llvm::AllocaInst* bad = code_.slot(code_.unit.half, "bad");
  code_.b.CreateStore(code_.number32(0), bad);
  llvm::Value* word =
      code_.call("dj_read", {address, code_.number32(static_cast<uint32_t>(step.a)), bad});
  llvm::Value* state = code_.load32(bad);
  if (lenient_) {
    code_.b.CreateStore(code_.b.CreateOr(code_.load32(lenient_), state), lenient_);
  } else {
    code_.fail_if(code_.b.CreateICmpNE(state, code_.number32(0)), span, abi::kErrBadAddress,
                  address);
  }
  return step.b ? extend(code_, word, step.a * 8, true) : word;
}

// Where failed reads are noted, one that failed at the entry fails now.
void Locations::note_unread_entry(int64_t slot) {
  const ReturnCapture& capture = *capture_;
  if ((capture.lenient >> slot & 1) == 0) return;
  llvm::Value* at = code_.b.CreateConstInBoundsGEP1_64(code_.unit.word, registers_.machine().entry,
                                                       capture.values.size());
  llvm::Value* bits = code_.b.CreateLShr(code_.load(at), code_.number(slot));
  llvm::Value* bad =
      code_.b.CreateAnd(code_.b.CreateTrunc(bits, code_.unit.half), code_.number32(1));
  code_.b.CreateStore(code_.b.CreateOr(code_.load32(lenient_), bad), lenient_);
}

llvm::Value* Locations::entry_value(int64_t slot) {
  CHECK(registers_.machine().entry);
  if (lenient_) note_unread_entry(slot);
  return code_.load(
      code_.b.CreateConstInBoundsGEP1_64(code_.unit.word, registers_.machine().entry, slot));
}

llvm::Value* Locations::push(const LocStep& step, const std::vector<llvm::Value*>& args) {
  switch (step.op) {
    case LocStep::PushReg:
      return registers_.read(step.a, step.b);
    case LocStep::PushConst:
      return code_.number(step.a);
    case LocStep::PushArg:
      return args.at(static_cast<size_t>(step.a));
    case LocStep::PushBias:
      return site_bias(code_);
    case LocStep::PushFsBase: {
      auto* self =
          llvm::ConstantPointerNull::get(llvm::PointerType::get(code_.unit.context, kFsSpace));
      return code_.load(self);  // the thread control block begins with its own address
    }
    case LocStep::PushCall: {
      const Builtin& row = builtins()[static_cast<size_t>(step.a)];
      return code_.b.CreateCall(code_.unit.builtin(row, "", false, false), {});
    }
    case LocStep::PushEntry:
      return entry_value(step.a);
    default:
      return nullptr;
  }
}

// Null: the step takes two words.
llvm::Value* Locations::unary(const LocStep& step, llvm::Value* operand, Span span) {
  switch (step.op) {
    case LocStep::Deref:
      return checked_read(operand, step, span);
    case LocStep::StackDeref:
      return stack_read(code_, operand, step);
    case LocStep::Neg:
      return code_.b.CreateNeg(operand);
    case LocStep::Not:
      return code_.b.CreateNot(operand);
    case LocStep::DoubleOfInt:
      return step.a != 0 ? code_.call("dj_double_of_unsigned", {operand})
                         : double_of_int(code_, operand);
    case LocStep::DoubleOfFloat:
      return code_.call("dj_double_of_float", {operand});
    case LocStep::FloatOfDouble:
      return code_.call("dj_float_of_double", {operand});
    case LocStep::IntOfDouble:
      return code_.call(step.a != 0 ? "dj_unsigned_of_double" : "dj_int_of_double", {operand});
    case LocStep::Extend:
      return extend(code_, operand, step.a * 8, step.b != 0);
    case LocStep::Half:
      return code_.b.CreateTrunc(code_.b.CreateLShr(operand, static_cast<uint64_t>(step.a) * 64),
                                 code_.unit.word);
    case LocStep::Convert:
      return convert_number(code_, step, operand);
    case LocStep::Extract:
      return extend(code_, code_.b.CreateLShr(operand, code_.number(step.a)), step.b, step.c != 0);
    default:
      return nullptr;
  }
}

void Locations::step(const LocStep& step, LocationStack& stack,
                     const std::vector<llvm::Value*>& args, Span span) {
  if (shuffle(step, stack)) return;
  llvm::Value* result = push(step, args);
  if (result == nullptr) {
    llvm::Value* right = pop(stack);
    result = unary(step, right, span);
    if (result == nullptr) result = binary(code_, step, pop(stack), right, span);
  }
  stack.push_back(result);
}

llvm::Value* Locations::value(const LocExpr& location, const std::vector<llvm::Value*>& args,
                              Span span) {
  for (const LocStep& step : location.steps) {
    if (step.op == LocStep::Label) return value_with_jumps(*this, location, args, span);
  }
  LocationStack stack;
  for (const LocStep& each : location.steps) step(each, stack, args, span);
  return pop(stack);
}

llvm::Value* Locations::lenient(const LocExpr& location, const std::vector<llvm::Value*>& args,
                                llvm::Value* bad, Span span) {
  lenient_ = bad;
  llvm::Value* word = value(location, args, span);
  lenient_ = nullptr;
  return word;
}

}  // namespace dj::ir
