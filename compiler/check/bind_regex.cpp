// SPDX-License-Identifier: Apache-2.0
// Binds =~ and !~: the pattern is compiled here, its mistakes are shown inside the literal.
#include "compiler/check/format.h"
#include "compiler/check/forms.h"
#include "compiler/regex/regex.h"

namespace dj {

ExprPtr bind_match(Binder& binder, const ast::Match& m, Span span) {
  ExprPtr text = binder.expr(*m.text);
  std::variant<std::string, RegexMistake> compiled = compile_regex(m.pattern);
  if (const RegexMistake* mistake = std::get_if<RegexMistake>(&compiled)) {
    Span place = inside_literal(m.pattern, m.pattern_span, mistake->begin, mistake->end);
    binder.diags.error("DJ2301", place, mistake->message);
    return poison(span);
  }
  std::string program = std::get<std::string>(std::move(compiled));
  return make(Match{m.negated, std::move(text), std::move(program)}, span, Type::Int);
}

}  // namespace dj
