// SPDX-License-Identifier: Apache-2.0
// Looks up a mark's operands by number.
#include "compiler/resolve/mark_targets.h"

#include <fmt/format.h>

#include <charconv>

#include "compiler/base/counted.h"
#include "compiler/debuginfo/sdt.h"

namespace dj {

namespace {

// N of "argN"; none: another name.
std::optional<size_t> argument_number(std::string_view name) {
  size_t number = 0;
  if (!name.starts_with("arg")) {
    return std::nullopt;
  }
  const char* end = name.data() + name.size();
  const auto [rest, status] = std::from_chars(name.data() + 3, end, number);
  return status == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

TargetText all_arguments(const MarkOf& mark) {
  TargetText text;
  for (size_t i = 0; i < mark.operands.size(); i++) {
    bool is_signed = false;
    Result<LocExpr> value = operand_value(mark.operands[i], &is_signed);
    TargetText::Item item;
    item.before = fmt::format("{}arg{}=", i > 0 ? " " : "", i + 1);
    item.defined = value.ok();
    if (value.ok()) {
      item.value = value.take();
    }
    item.as = item.value.is_double ? TargetText::Item::As::Double : TargetText::Item::As::Hex;
    text.items.push_back(std::move(item));
  }
  return text;
}

}  // namespace

bool plan_mark_target(const TargetExpr& expr, const Site& site, TargetPlan& plan,
                      std::optional<TargetFailure>& failure) {
  auto fail = [&](TargetFailure::Kind kind, std::string message) {
    failure.emplace();
    failure->kind = kind;
    failure->message = std::move(message);
    return true;
  };
  if (expr.base != TargetExpr::Variable) {
    return false;
  }
  const bool named = expr.name == "$name" || expr.name == "$provider";
  if (!site.mark) {
    return named && fail(TargetFailure::BadUse, fmt::format("only marks have ${}", expr.name));
  }
  const MarkOf& mark = *site.mark;
  if (named) {
    TargetText text;
    text.after = expr.name == "$name" ? mark.name : mark.provider;
    plan = std::move(text);
    return true;
  }
  if (expr.name == "$parms" || expr.name == "$vars") {
    plan = all_arguments(mark);
    return true;
  }
  const std::optional<size_t> number = argument_number(expr.name);
  if (!number) {
    return false;
  }
  if (*number < 1 || *number > mark.operands.size()) {
    fail(TargetFailure::UnknownName,
         fmt::format("the mark {} has {}", mark.name, counted(mark.operands.size(), "argument")));
    for (size_t i = 1; i <= mark.operands.size(); i++) {
      failure->known.push_back(fmt::format("arg{}", i));
    }
    return true;
  }
  if (!expr.path.empty() || expr.address_of) {
    return fail(TargetFailure::BadUse, fmt::format("${} is a number: the mark does not say of "
                                                   "what type it is",
                                                   expr.name));
  }
  bool is_signed = false;
  Result<LocExpr> value = operand_value(mark.operands[*number - 1], &is_signed);
  if (!value.ok()) {
    return fail(TargetFailure::NotBuilt, fmt::format("${}: {}", expr.name, value.error().message));
  }
  plan = value.take();
  return true;
}

}  // namespace dj
