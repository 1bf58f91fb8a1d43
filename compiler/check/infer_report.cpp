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

}  // namespace

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
          [&](const CallBuiltin& c) { return fmt::format("`{}()`", builtins()[c.builtin].name); },
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
  if (const CallFunction* c = std::get_if<CallFunction>(&e.node)) {
    diag.labels.push_back({program_.functions[c->function].span, "it returns nothing"});
  }
}

}  // namespace dj
