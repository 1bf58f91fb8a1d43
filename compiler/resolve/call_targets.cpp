// SPDX-License-Identifier: Apache-2.0
// Looks the names up in the registers of the System V ABI and of the kernel's.
#include "compiler/resolve/call_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "arch/x86_64/registers.h"

namespace dj {

namespace {

// Linux, x86-64 (syscall(2)): the number is in rax, where the result will be.
constexpr arch::Reg kSyscallArguments[] = {arch::kRdi, arch::kRsi, arch::kRdx,
                                           arch::kR10, arch::kR8,  arch::kR9};

LocExpr reg(arch::Reg number) { return {{{LocStep::PushReg, number}}}; }

// Behind the callee or the kernel, whose answer is in rax.
bool is_behind(const Site& site) {
  return site.kind == SiteKind::Return || (site.syscall && site.syscall->done) ||
         (site.call && site.call->returned_from != 0);
}

// A call of a function in another object has returned: no debug info at hand tells of it.
bool is_from_elsewhere(const Site& site) {
  return site.call && site.call->returned_from != 0 && site.call->callee == 0;
}

// One value under its name; `gone`: behind the call its register holds another.
struct Named {
  std::string name;
  LocExpr value;
  bool gone = false;
};

std::vector<Named> values_at(const Site& site) {
  std::vector<Named> values;
  if (site.syscall && site.syscall->number)
    values.push_back({"syscall", {{{LocStep::PushConst, *site.syscall->number}}}});
  else if (site.syscall)
    values.push_back({"syscall", reg(arch::kRax), is_behind(site)});
  // The kernel leaves the arguments where they are.
  for (size_t i = 0; site.syscall && i < std::size(kSyscallArguments); i++) {
    values.push_back({fmt::format("arg{}", i + 1), reg(kSyscallArguments[i])});
  }
  if (is_behind(site)) values.push_back({"return", reg(arch::kRax)});
  return values;
}

// name=value of those that the text form `form` lists.
TargetText text_of(const std::vector<Named>& values, std::string_view form,
                   ReturnCapture& capture) {
  TargetText text;
  for (const Named& value : values) {
    if (form == "$vars" || (form == "$return") == (value.name == "return")) {
      TargetText::Item item;
      item.before = fmt::format("{}{}=", text.items.empty() ? "" : " ", value.name);
      item.defined = true;
      item.as = TargetText::Item::As::Hex;
      item.value = value.value;
      if (value.gone) static_cast<void>(capture_word(item.value, false, capture));
      text.items.push_back(std::move(item));
    }
  }
  return text;
}

bool fail(std::optional<TargetFailure>& failure, TargetFailure::Kind kind, std::string message) {
  failure.emplace();
  failure->kind = kind;
  failure->message = std::move(message);
  return true;
}

bool plan_text_form(const TargetExpr& expr, const Site& site, SiteTargets& out, TargetPlan& plan) {
  if (site.stub && expr.name == "$name") {
    TargetText text;
    text.after = site.stub->name;
    plan = std::move(text);
    return true;
  }
  const bool known = expr.name == "$parms" || expr.name == "$vars" || expr.name == "$return";
  if (!site.syscall || !known) return false;
  plan = text_of(values_at(site), expr.name, out.capture);
  return true;
}

// int_arg(n) and the like at a system call: its nth argument, where the kernel finds
// it.
bool plan_argument(const TargetExpr& expr, const Site& site, TargetPlan& plan) {
  const bool whole = expr.name != "double_arg" && expr.name != "float_arg";
  if (!site.syscall || expr.base != TargetExpr::Argument || !whole ||
      expr.index > int64_t(std::size(kSyscallArguments))) {
    return false;
  }
  LocExpr value = reg(kSyscallArguments[expr.index - 1]);
  if (expr.bytes < 8) value.steps.push_back({LocStep::Extend, expr.bytes, expr.is_signed});
  plan = std::move(value);
  return true;
}

}  // namespace

bool plan_call_target(const TargetExpr& expr, const Site& site, SiteTargets& out, TargetPlan& plan,
                      std::optional<TargetFailure>& failure) {
  if (plan_argument(expr, site, plan)) return true;
  const bool without_info = site.stub || site.syscall || is_from_elsewhere(site);
  if (expr.base != TargetExpr::Variable || !without_info) return false;
  if (expr.name.starts_with('$')) return plan_text_form(expr, site, out, plan);
  const std::vector<Named> values = values_at(site);
  auto found = std::find_if(values.begin(), values.end(),
                            [&](const Named& value) { return value.name == expr.name; });
  if (found == values.end()) {
    if (!site.syscall) return false;
    fail(failure, TargetFailure::UnknownName,
         fmt::format("a system call has no variable \"{}\"", expr.name));
    std::string all;
    for (const Named& value : values) {
      failure->known.push_back(value.name);
      all += (all.empty() ? "$" : ", $") + value.name;
    }
    failure->notes.push_back("it has: " + all);
    return true;
  }
  if (!expr.path.empty() || expr.address_of || expr.pretty > 0) {
    return fail(failure, TargetFailure::BadUse,
                fmt::format("${} is a number: nothing says of what type it is", expr.name));
  }
  LocExpr value = found->value;
  if (found->gone) {
    failure = capture_word(value, false, out.capture);
    if (failure) return true;
  }
  plan = std::move(value);
  return true;
}

}  // namespace dj
