// SPDX-License-Identifier: Apache-2.0
// Prints LocExpr for dumps and goldens: "rdi +16 deref4s".
#include "compiler/stages/location.h"

#include "arch/x86_64/registers.h"
#include "stdlib/builtins.h"

namespace dj {

namespace {

const char* plain_name(LocStep::Op op) {
  switch (op) {
    case LocStep::PushBias:
      return "bias";
    case LocStep::PushFsBase:
      return "fsbase";
    case LocStep::Add:
      return "add";
    case LocStep::Sub:
      return "sub";
    case LocStep::Mul:
      return "mul";
    case LocStep::Div:
      return "div";
    case LocStep::Mod:
      return "mod";
    case LocStep::And:
      return "and";
    case LocStep::Or:
      return "or";
    case LocStep::Xor:
      return "xor";
    case LocStep::Shl:
      return "shl";
    case LocStep::Shr:
      return "shr";
    case LocStep::Sar:
      return "sar";
    case LocStep::Neg:
      return "neg";
    case LocStep::Not:
      return "not";
    case LocStep::Eq:
      return "eq";
    case LocStep::Ne:
      return "ne";
    case LocStep::Lt:
      return "lt";
    case LocStep::Le:
      return "le";
    case LocStep::Gt:
      return "gt";
    case LocStep::Ge:
      return "ge";
    case LocStep::Dup:
      return "dup";
    case LocStep::Drop:
      return "drop";
    case LocStep::Swap:
      return "swap";
    case LocStep::Over:
      return "over";
    case LocStep::Rot:
      return "rot";
    case LocStep::DoubleOfFloat:
      return "float2double";
    case LocStep::DoubleOfInt:
      return "int2double";
    case LocStep::DoubleOfExtended:
      return "extended2double";
    case LocStep::Join:
      return "join";
    case LocStep::FloatOfDouble:
      return "double2float";
    case LocStep::IntOfDouble:
      return "double2int";
    default:
      return "?";
  }
}

const char* form_name(int64_t form) {
  constexpr const char* kNames[] = {"signed", "unsigned", "wide",     "unsigned_wide", "half",
                                    "float",  "double",   "extended", "quad"};
  return kNames[form];
}

std::string step_text(const LocStep& s) {
  if (divides_or_orders(s.op)) return (s.a != 0 ? "unsigned_" : "") + std::string(plain_name(s.op));
  const std::string a = std::to_string(s.a);
  switch (s.op) {
    case LocStep::PushReg:
      if (arch::is_vector(s.a) || arch::is_x87(s.a)) {
        const std::string name = arch::is_x87(s.a) ? "st" + std::to_string(s.a - arch::kSt0)
                                                   : "xmm" + std::to_string(s.a - arch::kXmm0);
        return s.b == 0 ? name : name + "[" + std::to_string(s.b) + "]";
      }
      if (arch::is_mask(s.a)) return "k" + std::to_string(s.a - arch::kMask0);
      for (const arch::NamedReg& other : arch::kOtherRegNames) {
        if (s.a == other.reg) return other.name;
      }
      return s.a >= 0 && s.a < arch::kRegCount ? arch::kRegNames[s.a] : "reg" + a;
    case LocStep::PushConst:
      return (s.a < 0 ? "push" : "") + a;  // a sign alone is an addition's
    case LocStep::PushArg:
      return "arg" + a;
    case LocStep::PushCall:
      return std::string(builtins()[static_cast<size_t>(s.a)].name) + "()";
    case LocStep::PushEntry:
      return "entry" + a;
    case LocStep::Deref:
      return "deref" + a + (s.b ? "s" : "");
    case LocStep::StackDeref:
      return "stack" + a + (s.b ? "s" : "");
    case LocStep::Extend:
      return "extend" + a + (s.b ? "s" : "");
    case LocStep::DoubleOfInt:
    case LocStep::IntOfDouble:
      return (s.a != 0 ? "unsigned_" : "") + std::string(plain_name(s.op));
    case LocStep::DoubleCompute:
      return "double_" + std::string(plain_name(static_cast<LocStep::Op>(s.a)));
    case LocStep::Half:
      return s.a == 0 ? "low" : "high";
    case LocStep::Convert:
      return std::string(form_name(s.a)) + "_to_" + form_name(s.b);
    case LocStep::WideCompute:
      return std::string(form_name(s.b)) + "_" + plain_name(static_cast<LocStep::Op>(s.a));
    case LocStep::Label:
      return "label" + a + ":";
    case LocStep::Jump:
    case LocStep::JumpIf:
      return (s.b != 0 ? "back" : "jump") + std::string(s.op == LocStep::Jump ? "" : "_if") + a;
    case LocStep::Pick:
      return "pick" + a;
    case LocStep::Extract:
      return "bits" + a + ":" + std::to_string(s.b) + (s.c ? "s" : "");
    default:
      return plain_name(s.op);
  }
}

}  // namespace

std::string to_string(const LocExpr& expr) {
  std::string text;
  for (size_t i = 0; i < expr.steps.size(); i++) {
    const LocStep& s = expr.steps[i];
    const bool offset = s.op == LocStep::PushConst && i + 1 < expr.steps.size() &&
                        expr.steps[i + 1].op == LocStep::Add && i > 0;
    text += text.empty() ? "" : " ";
    if (offset) {
      text += (s.a >= 0 ? "+" : "") + std::to_string(s.a);
      i++;
    } else {
      text += step_text(s);
    }
  }
  return text;
}

}  // namespace dj
