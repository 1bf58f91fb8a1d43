// SPDX-License-Identifier: Apache-2.0
// Registers by name and arguments by number, as the System V ABI passes them.
#include "compiler/resolve/raw_value.h"

#include <algorithm>

#include "arch/x86_64/registers.h"

namespace dj {

namespace {

constexpr int64_t kRegisterArguments = 6;

TargetFailure bad_use(const std::string& message) {
  TargetFailure f;
  f.kind = TargetFailure::BadUse;
  f.message = message;
  return f;
}

int64_t register_number(const std::string& name) {
  for (const arch::NamedReg& other : arch::kOtherRegNames) {
    if (name == other.name) return other.reg;
  }
  return std::find(std::begin(arch::kRegNames), std::end(arch::kRegNames), name) -
         std::begin(arch::kRegNames);
}

}  // namespace

TargetAnswer raw_value(const TargetExpr& expr, const ProbePlace& place) {
  LocExpr value;
  if (expr.base == TargetExpr::Call) {
    value.steps = {{LocStep::PushCall, expr.index}};
    return value;
  }
  if (expr.base == TargetExpr::Register && expr.name == "rip") {
    if (place.at_return) {  // where it returns to, as of a uretprobe
      value.steps = {{LocStep::PushReg, arch::kRsp}, {LocStep::StackDeref, 8}};
    } else {
      value.steps = {{LocStep::PushConst, int64_t(place.pc)}, {LocStep::PushBias}, {LocStep::Add}};
    }
  } else if (expr.base == TargetExpr::Register) {
    value.steps.push_back({LocStep::PushReg, register_number(expr.name)});
  } else if (!place.at_entry) {
    return bad_use(expr.name +
                   "() means an argument at a function's entry; here its register may "
                   "hold something else");
  } else if (expr.name == "double_arg" || expr.name == "float_arg") {
    value.steps.push_back({LocStep::PushReg, arch::kXmm0 + expr.index - 1});
    value.is_double = true;
  } else if (expr.index <= kRegisterArguments) {
    value.steps.push_back({LocStep::PushReg, arch::kArgumentRegs[expr.index - 1]});
  } else {
    value.steps = {{LocStep::PushReg, arch::kRsp},
                   {LocStep::PushConst, (expr.index - kRegisterArguments) * 8},
                   {LocStep::Add},
                   {LocStep::StackDeref, 8}};
  }
  if (expr.bytes < 8) {
    value.steps.push_back({LocStep::Extend, expr.bytes, expr.is_signed});
  }
  if (expr.name == "float_arg") {
    value.steps.push_back({LocStep::DoubleOfFloat});
  }
  return value;
}

}  // namespace dj
