// Operands: literals, variables, calls, target variables and what follows them.
#include "compiler/parse/build.h"

namespace dj {

using namespace ast;

ExprPtr Builder::postfix(DjtParser::PostfixContext* ctx) {
  ctx->primary()->accept(this);
  ExprPtr base = std::move(expr_);
  if (std::holds_alternative<Target>(base->node)) {
    return target_path(std::move(base), ctx);
  }
  if (ctx->ADDRESS_OF() != nullptr && std::holds_alternative<At>(base->node)) {
    not_built(span(ctx), "addresses of @...() expressions are");
    return base;
  }
  if (ctx->ADDRESS_OF() != nullptr) {
    diags_.error("DJ1020", span(ctx), "only the address of a target variable can be taken").help =
        "target variables are written with a dollar: &$variable";
    return base;
  }
  return ctx->deref().empty() ? std::move(base) : array_element(std::move(base), ctx);
}

ExprPtr Builder::target_path(ExprPtr base, DjtParser::PostfixContext* ctx) {
  Target& target = std::get<Target>(base->node);
  target.address_of = ctx->ADDRESS_OF() != nullptr;
  base->span = span(ctx);
  if (target.name.size() > 1 && target.name.back() == '$') {
    not_built(base->span, "pretty printing with a trailing $ is").help =
        "print the members one by one: $pointer->member";
    return base;
  }
  for (DjtParser::DerefContext* deref : ctx->deref()) {
    if (!add_access(deref, target)) {
      break;
    }
  }
  return base;
}

bool Builder::add_access(DjtParser::DerefContext* ctx, Target& target) {
  Access access;
  access.span = span(ctx);
  if (auto* member = dynamic_cast<DjtParser::MemberContext*>(ctx)) {
    access.kind = Access::Field;
    access.field = lexeme(member->stop).text;
    if (access.field.back() == '$') {
      not_built(access.span, "pretty printing with a trailing $ is");
      return false;
    }
  } else if (auto* element = dynamic_cast<DjtParser::ElementContext*>(ctx)) {
    std::vector<ExprPtr> keys;
    if (!index_keys(element->index()->indexKey(), keys)) {
      return false;
    }
    if (keys.size() != 1) {
      diags_.error("DJ1013", access.span, "an array of the target is indexed by one number").help =
          "write $matrix[1][2]";
      return false;
    }
    access.kind = Access::Element;
    access.index = std::move(keys[0]);
  } else {
    not_built(access.span, "pretty printing with a trailing $ is");
    return false;
  }
  target.path.push_back(std::move(access));
  return true;
}

// name[keys]; everything else that can stand before '[' or '->' is refused.
ExprPtr Builder::array_element(ExprPtr base, DjtParser::PostfixContext* ctx) {
  DjtParser::DerefContext* first = ctx->deref(0);
  auto* element = dynamic_cast<DjtParser::ElementContext*>(first);
  const Name* name = std::get_if<Name>(&base->node);
  if (const At* at = std::get_if<At>(&base->node)) {
    bool cast = at->op == "cast" || at->op == "var" || at->op == "entry" || at->op == "exit";
    not_built(span(ctx), cast ? "members of @" + at->op + "(...) are"
                              : "taking one part of @" + at->op + "(...) is");
    return base;
  }
  if (element == nullptr && name != nullptr) {
    Diag& diag = diags_.error("DJ1013", span(first), "'->' needs a target variable before it");
    diag.help = "target variables are written with a dollar: $" + name->name + "->...";
    return base;
  }
  if (element == nullptr) {
    not_built(span(first), "members of a computed value are");
    return base;
  }
  if (name == nullptr) {
    diags_.error("DJ1013", span(first), "only an array can be indexed");
    return base;
  }
  if (ctx->deref().size() > 1) {
    Diag& diag = diags_.error("DJ1013", span(ctx->deref(1)), "an array element has no parts");
    diag.help = "several keys stand in one pair of brackets: " + name->name + "[1, 2]";
  }
  Index made{name->name, base->span, {}};
  index_keys(element->index()->indexKey(), made.keys);
  auto result = std::make_unique<Expr>();
  result->span = span(ctx);
  result->node = std::move(made);
  return result;
}

bool Builder::index_keys(const std::vector<DjtParser::IndexKeyContext*>& keys,
                         std::vector<ExprPtr>& out) {
  for (DjtParser::IndexKeyContext* key : keys) {
    if (key->STAR() != nullptr) {
      not_built(span(key->STAR()), "slices of an array ([*, k]) are");
      return false;
    }
    out.push_back(expr(key->expr()));
  }
  return true;
}

bool Builder::array_name(DjtParser::ArrayNameContext* ctx, std::string& name, Span& place) {
  place = span(ctx);
  if (ctx->ID() == nullptr) {
    not_built(place, "using the buckets of a histogram as an array is");
    return false;
  }
  name = text(ctx->ID());
  return true;
}

Builder::Any Builder::visitParens(DjtParser::ParensContext* ctx) {
  expr_ = expr(ctx->expr());
  expr_->span = span(ctx);
  return {};
}

Builder::Any Builder::visitAtCall(DjtParser::AtCallContext* ctx) {
  At made{text(ctx->ATWORD()).substr(1), span(ctx->ATWORD()), exprs(ctx->exprs())};
  expr_ = std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
  return {};
}

Builder::Any Builder::visitAtBare(DjtParser::AtBareContext* ctx) {
  std::string word = text(ctx->ATWORD());
  diags_.error("DJ1013", span(ctx), word + " needs an argument in parentheses").help =
      "write " + word + "(variable); macros are not built yet";
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Number{0}});
  return {};
}

Builder::Any Builder::visitCall(DjtParser::CallContext* ctx) {
  Call made{text(ctx->ID()), span(ctx->ID()), exprs(ctx->exprs())};
  expr_ = std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
  return {};
}

Builder::Any Builder::visitName(DjtParser::NameContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Name{text(ctx->ID())}});
  return {};
}

Builder::Any Builder::visitTarget(DjtParser::TargetContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Target{text(ctx->TARGET()).substr(1), false, {}}});
  return {};
}

Builder::Any Builder::visitNumber(DjtParser::NumberContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Number{number(ctx->NUMBER())}});
  return {};
}

Builder::Any Builder::visitText(DjtParser::TextContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), String{string_value(ctx->string())}});
  return {};
}

}  // namespace dj
