// SPDX-License-Identifier: Apache-2.0
// The words of type errors: what it is, what was needed, and where its type was first seen.
#include <fmt/format.h>

#include "compiler/check/infer.h"
#include "compiler/check/overload.h"
#include "compiler/check/signature.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

bool inside(Span inner, Span outer) {
  return inner.file == outer.file && inner.begin >= outer.begin && inner.end <= outer.end;
}

std::string first_used(Type type) { return fmt::format("first used as {} here", type_words(type)); }

// "$p->names[2]" as the script has it; "": an index is computed, or it is no variable or argument.
std::string written(const TargetExpr& t) {
  if (t.address_of || t.pretty > 0) return "";
  std::string text = "$" + t.name;
  if (t.base == TargetExpr::Argument) text = fmt::format("{}({})", t.name, t.index);
  if (t.base != TargetExpr::Variable && t.base != TargetExpr::Argument) return "";
  for (const TargetStep& step : t.path) {
    if (step.kind == TargetStep::ArgElement) return "";
    text += step.kind == TargetStep::Field ? "->" + step.field : fmt::format("[{}]", step.index);
  }
  return text;
}

}  // namespace

const TargetExpr* Infer::target_of(const Expr& e) const {
  const auto* target = std::get_if<TargetRef>(&e.node);
  const bool in_probe =
      !probe_frames_.empty() && frame_ >= &probe_frames_.front() && frame_ <= &probe_frames_.back();
  if (!target || !in_probe) return nullptr;
  const auto probe = static_cast<size_t>(frame_ - &probe_frames_.front());
  return &program_.probes[probe].targets[target->target];
}

// A pointer to characters is a number here; bpftrace's str() and C's %s are what people have in
// mind.
void Infer::suggest_text(const Expr& e, Diag& diag) const {
  const TargetExpr* target = target_of(e);
  const std::string text = target ? written(*target) : "";
  if (text.empty()) return;
  const std::string read = fmt::format("user_string({})", text);
  diag.help +=
      fmt::format("{}the text that a pointer leads to is {}", diag.help.empty() ? "" : "; ", read);
  diag.fixes.push_back({e.span, read});
  if (target->base != TargetExpr::Variable) return;
  diag.help += fmt::format(", any value as text {}$", text);
  diag.fixes.push_back({e.span, text + "$"});
}

std::string Infer::describe(const Expr& e) const {
  return std::visit(
      Overload{
          [&](const LocalRef& l) {
            return fmt::format("`{}`", frame_->frame->locals[l.local].name);
          },
          [&](const GlobalRef& g) { return fmt::format("`{}`", program_.globals[g.global].name); },
          [&](const ElementRef& r) {
            return fmt::format("an element of `{}`", program_.globals[r.array].name);
          },
          [&](const CallFunction& c) {
            return fmt::format("`{}()`", program_.functions[c.function].name);
          },
          [&](const Inlined& i) {
            return fmt::format("`{}()`", program_.functions[i.function].name);
          },
          [&](const CallBuiltin& c) { return fmt::format("`{}()`", builtins()[c.builtin].name); },
          [&](const TargetRef&) {
            const TargetExpr* target = target_of(e);
            const std::string text = target ? written(*target) : "";
            return text.empty() ? std::string("this") : fmt::format("`{}`", text);
          },
          [](const auto&) { return std::string("this"); },
      },
      e.node);
}

Diag* Infer::mismatch(const Expr& e, TypeVar v, Type wanted, std::string_view why,
                      std::string help) {
  if (!table_.claim_report(v)) return nullptr;
  Diag& diag = diags_.error("DJ2101", e.span,
                            fmt::format("{} is {}, but {} needs {}", describe(e),
                                        type_words(table_.type(v)), why, type_words(wanted)));
  std::optional<Span> evidence = table_.evidence(v);
  if (evidence && !inside(*evidence, e.span)) {
    diag.labels.push_back({*evidence, first_used(table_.type(v))});
  }
  diag.help = std::move(help);
  const bool is_path = diag.help.find("->") != std::string::npos;  // `$p.x` means a member
  if (wanted == Type::Str && !is_path) suggest_text(e, diag);
  return &diag;
}

bool Infer::want(Expr& e, Type type, std::string_view why, std::string help) {
  TypeVar v = value(e);
  if (e.type == Type::Void || table_.set(v, type, e.span)) return true;
  mismatch(e, v, type, why, std::move(help));
  return false;
}

void Infer::want_both(Binary& b, Type type, std::string_view why, const std::string& help) {
  if (want(*b.left, type, why, help)) {
    want(*b.right, type, why, help);
  } else {
    value(*b.right);
  }
}

void Infer::flow(const Slot& slot, const Expr& e, TypeVar v) {
  if (e.type != Type::Void) meet(slot, {v, describe(e)}, e.span);
}

void Infer::meet(const Slot& a, const Slot& b, Span at) {
  if (table_.join(a.type, b.type)) return;
  // Either side may have been complained about already: then this is the same cause.
  bool first = table_.claim_report(a.type);
  if (!table_.claim_report(b.type) || !first) return;
  Type left = table_.type(a.type), right = table_.type(b.type);
  Diag& diag = diags_.error(
      "DJ2101", at,
      fmt::format("{} is {}, but {} is {}", a.words, type_words(left), b.words, type_words(right)));
  for (TypeVar side : {a.type, b.type}) {
    Span evidence = *table_.evidence(side);
    if (!inside(evidence, at)) diag.labels.push_back({evidence, first_used(table_.type(side))});
  }
}

std::string Infer::key_words(GlobalId array, size_t i) const {
  const Global& global = program_.globals[array];
  return global.keys.size() == 1 ? fmt::format("the key of `{}`", global.name)
                                 : fmt::format("key {} of `{}`", i + 1, global.name);
}

void Infer::no_value(const Expr& e) {
  Diag& diag = diags_.error("DJ2102", e.span, fmt::format("{} has no value", describe(e)));
  const auto* call = std::get_if<CallFunction>(&e.node);
  const auto* inlined = std::get_if<Inlined>(&e.node);
  if (call == nullptr && inlined == nullptr) return;
  const FunctionId callee = call != nullptr ? call->function : inlined->function;
  diag.labels.push_back({program_.functions[callee].span, "it returns nothing"});
}

}  // namespace dj
