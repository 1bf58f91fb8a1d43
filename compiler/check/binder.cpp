// SPDX-License-Identifier: Apache-2.0
// Binder: names, and the way from syntax to the function of its form.
#include "compiler/check/binder.h"

#include "compiler/check/forms.h"
#include "compiler/check/overload.h"

namespace dj {

Binder::Binder(Program& whole, Notes& of_all, Diags& reports, Frame& own,
               const PointerTypes& pointers, const Bound& bound)
    : program(whole),
      notes(of_all),
      diags(reports),
      frame(own),
      probe(bound.probe),
      source(bound.source),
      scope{.pointers = &pointers} {}

LocalId Binder::hidden_local(const std::string& name) {
  frame.locals.push_back({name, Type::Unknown});
  return static_cast<LocalId>(frame.locals.size() - 1);
}

LocalId Binder::add_local(const std::string& name) {
  const LocalId id = hidden_local(name);
  scope.locals.insert_or_assign(name, id);
  return id;
}

LocalId Binder::local(const std::string& name) {
  auto known = scope.locals.find(name);
  return known != scope.locals.end() ? known->second : add_local(name);
}

std::optional<GlobalId> Binder::global(const std::string& name) const {
  auto known = notes.globals.find(name);
  if (known == notes.globals.end() || scope.locals.contains(name)) return std::nullopt;
  return known->second;
}

std::optional<TargetView> Binder::view(const ast::Expr& e) const {
  std::optional<TargetView> found = target_view(e);
  return found ? found : pointer_view(e, *scope.pointers);
}

ExprPtr poison(Span span) { return make(IntLit{0}, span); }

}  // namespace dj
