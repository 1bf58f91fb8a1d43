// SPDX-License-Identifier: Apache-2.0
// Operands: literals, variables, calls, target variables and what follows them.
#include "compiler/parse/build.h"
#include "compiler/parse/macros.h"

namespace dj {

using namespace ast;

ExprPtr Builder::postfix(DjtParser::PostfixContext* ctx) {
  ctx->primary()->accept(this);
  ExprPtr base = std::move(expr_);
  const bool is_alone = ctx->children.size() == 1;
  const bool in_parens = dynamic_cast<DjtParser::ParensContext*>(ctx->primary()) != nullptr;
  Target* const target = std::get_if<Target>(&base->node);
  if (is_alone && (target == nullptr || in_parens)) return base;
  const Name* name = std::get_if<Name>(&base->node);
  bool element =
      !ctx->deref().empty() && dynamic_cast<DjtParser::ElementContext*>(ctx->deref(0)) != nullptr;
  // (&$p->x)->y and ($p$).. are no longer paths from $p.
  const bool is_whole =
      in_parens && target != nullptr && (target->address_of || target->pretty != 0);
  if (target != nullptr && !is_whole) return target_path(std::move(base), ctx);
  if (ctx->ADDRESS_OF() != nullptr &&
      (ctx->deref().empty() ? !std::holds_alternative<At>(base->node)
                            : element && ctx->deref().size() == 1 && name != nullptr &&
                                  sources_.text(base->span).front() != '(')) {
    diags_.error("DJ1020", span(ctx), "only the address of a target variable can be taken").help =
        "target variables are written with a dollar: &$variable";
    return base;
  }
  // (name)[i] is a step from what a pointer points to, name[i] an array's element.
  if (name != nullptr && element && sources_.text(base->span).front() != '(') {
    return array_element(std::move(base), ctx);
  }
  bool plain = ctx->deref().empty() && ctx->ADDRESS_OF() == nullptr;
  return plain ? std::move(base) : member(std::move(base), ctx);
}

ExprPtr Builder::target_path(ExprPtr base, DjtParser::PostfixContext* ctx) {
  Target& target = std::get<Target>(base->node);
  target.address_of = ctx->ADDRESS_OF() != nullptr;
  base->span = span(ctx);
  target.pretty = trailing_dollars(target.name);
  accesses(ctx, target.path, target.pretty);
  return base;
}

// Takes the '$' that end a name away; how many they were.
int Builder::trailing_dollars(std::string& name) {
  int count = 0;
  for (; count < 2 && name.size() > 1 && name.back() == '$'; ++count) {
    name.pop_back();
  }
  return count;
}

// @cast(p, "t")->x, name->x, @hist_log(a)[2]: steps behind a value that is no target variable.
ExprPtr Builder::member(ExprPtr base, DjtParser::PostfixContext* ctx) {
  bool indexable = std::holds_alternative<At>(base->node) ||
                   std::holds_alternative<Call>(base->node) ||
                   std::holds_alternative<Name>(base->node);
  if (!indexable && base->span.end - base->span.begin > 0 &&
      sources_.text(base->span).front() != '(') {
    diags_.error("DJ1013", span(ctx->deref(0)), "only an array can be indexed");
    return base;
  }
  Member made;
  made.address_of = ctx->ADDRESS_OF() != nullptr;
  accesses(ctx, made.path, made.pretty);
  made.base = std::move(base);
  return std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
}

void Builder::accesses(DjtParser::PostfixContext* ctx, std::vector<Access>& path, int& pretty,
                       size_t first) {
  for (size_t i = first; i < ctx->deref().size(); ++i) {
    DjtParser::DerefContext* deref = ctx->deref(i);
    if (pretty > 0) {
      diags_.error("DJ1013", span(deref), "nothing can follow a '$' that asks for the whole value")
          .help = "the '$' stands at the very end: $pointer->member$";
      return;
    }
    if (!add_access(deref, path, pretty)) {
      return;
    }
  }
}

bool Builder::add_access(DjtParser::DerefContext* ctx, std::vector<Access>& path, int& pretty) {
  Access access;
  access.span = span(ctx);
  if (auto* member = dynamic_cast<DjtParser::MemberContext*>(ctx)) {
    access.kind = Access::Field;
    access.field = lexeme(member->stop).text;
    pretty = trailing_dollars(access.field);
  } else if (auto* element = dynamic_cast<DjtParser::ElementContext*>(ctx)) {
    std::vector<ExprPtr> keys;
    index_keys(element->index()->indexKey(), keys);
    if (keys.size() != 1 || keys[0] == nullptr) {
      diags_.error("DJ1013", access.span, "an array of the target is indexed by one number").help =
          "write $matrix[1][2]";
      return false;
    }
    access.kind = Access::Element;
    access.index = std::move(keys[0]);
  } else {
    pretty = static_cast<int>(access.span.end - access.span.begin);
    return true;
  }
  path.push_back(std::move(access));
  return true;
}

// name[keys], and what may follow it: name[keys]->member.
ExprPtr Builder::array_element(ExprPtr base, DjtParser::PostfixContext* ctx) {
  const Name& name = std::get<Name>(base->node);
  auto* element = dynamic_cast<DjtParser::ElementContext*>(ctx->deref(0));
  const bool steps = ctx->deref().size() > 1;
  if (steps && dynamic_cast<DjtParser::ElementContext*>(ctx->deref(1)) != nullptr) {
    Diag& diag = diags_.error("DJ1013", span(ctx->deref(1)), "an array element has no parts");
    diag.help = "several keys stand in one pair of brackets: " + name.name + "[1, 2]";
  }
  Index made{name.name, base->span, {}};
  index_keys(element->index()->indexKey(), made.keys);
  const Span whole = sources_.join(base->span, span(element));
  auto index = std::make_unique<Expr>(Expr{whole, std::move(made)});
  if (!steps) return index;
  Member member;
  member.address_of = ctx->ADDRESS_OF() != nullptr;
  accesses(ctx, member.path, member.pretty, 1);
  member.base = std::move(index);
  return std::make_unique<Expr>(Expr{span(ctx), std::move(member)});
}

void Builder::index_keys(const std::vector<DjtParser::IndexKeyContext*>& keys,
                         std::vector<ExprPtr>& out) {
  for (DjtParser::IndexKeyContext* key : keys) {
    out.push_back(key->STAR() != nullptr ? nullptr : expr(key->expr()));
  }
}

ExprPtr Builder::histogram(DjtParser::ArrayNameContext* ctx) {
  At made{text(ctx->ATWORD()).substr(1), span(ctx->ATWORD()), exprs(ctx->exprs())};
  return std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
}

// The array of a foreach or an "in": its name, or the histogram whose buckets it goes over.
template <typename Node>
void Builder::array_name(DjtParser::ArrayNameContext* ctx, Node& out) {
  out.array_span = span(ctx);
  if (ctx->ID() != nullptr) {
    out.array = text(ctx->ID());
  } else {
    out.histogram = histogram(ctx);
  }
}
template void Builder::array_name(DjtParser::ArrayNameContext*, In&);
template void Builder::array_name(DjtParser::ArrayNameContext*, Foreach&);

Builder::Any Builder::visitParens(DjtParser::ParensContext* ctx) {
  expr_ = expr(ctx->expr());
  expr_->span = span(ctx);
  return {};
}

// @uderef(4, address) and @uregister(5), SystemTap's raw reads by size and by DWARF's number, are
// calls: user_uint32(address), u_register("rdi"). Null: it is none of them.
ExprPtr Builder::raw_read(const std::string& word, DjtParser::AtWordContext* ctx) {
  static const char* const kRegisters[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                           "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                           "r12", "r13", "r14", "r15", "rip"};
  const bool memory = word == "@uderef";
  if (!memory && word != "@uregister") return nullptr;
  std::vector<ExprPtr> args = exprs(ctx->exprs());
  const Number* number = args.empty() ? nullptr : std::get_if<Number>(&args[0]->node);
  const uint64_t n = number != nullptr ? static_cast<uint64_t>(number->value) : UINT64_MAX;
  const bool known = memory ? n == 1 || n == 2 || n == 4 || n == 8 : n < std::size(kRegisters);
  Call read{"", span(ctx->word), {}};
  if (!known || args.size() != (memory ? 2 : 1)) {
    diags_
        .error("DJ1013", span(ctx),
               word + (memory ? " takes 1, 2, 4 or 8 and an address"
                              : " takes a number of DWARF, 0 to 16"))
        .help = memory ? "write @uderef(4, $pointer)" : "0 is rax; register(\"rax\") says it";
    return std::make_unique<Expr>(Expr{span(ctx), Number{0}});
  }
  if (memory) {
    read.name = "user_uint" + std::to_string(8 * n);
    read.args.push_back(std::move(args[1]));
  } else {
    read.name = "u_register";
    read.args.push_back(std::make_unique<Expr>(Expr{args[0]->span, String{kRegisters[n]}}));
  }
  return std::make_unique<Expr>(Expr{span(ctx), std::move(read)});
}

Builder::Any Builder::visitAtWord(DjtParser::AtWordContext* ctx) {
  const std::string& word = lexeme(ctx->word).text;
  if (ctx->children.size() > 1) {
    expr_ = raw_read(word, ctx);
    if (expr_) return {};
    At made{word.substr(1), span(ctx->word), exprs(ctx->exprs())};
    expr_ = std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
    return {};
  }
  if (is_operator(word.substr(1))) {
    diags_.error("DJ1013", span(ctx), word + " needs an argument in parentheses").help =
        "write " + word + "(variable)";
  } else {
    diags_.error("DJ1013", span(ctx), "there is no macro or operator " + word).help =
        "@define " + word.substr(1) + " %( text %) makes one, before its use";
  }
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Number{0}});
  return {};
}

Builder::Any Builder::visitNameOrCall(DjtParser::NameOrCallContext* ctx) {
  if (ctx->children.size() == 1) {
    expr_ = std::make_unique<Expr>(Expr{span(ctx), Name{lexeme(ctx->name).text}});
  } else {
    Call made{lexeme(ctx->name).text, span(ctx->name), exprs(ctx->exprs())};
    expr_ = std::make_unique<Expr>(Expr{span(ctx), std::move(made)});
  }
  return {};
}

Builder::Any Builder::visitTarget(DjtParser::TargetContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Target{text(ctx->TARGET()).substr(1), false, {}}});
  return {};
}

Builder::Any Builder::visitNumber(DjtParser::NumberContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Number{number(ctx->value)}});
  return {};
}

Builder::Any Builder::visitFraction(DjtParser::FractionContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), Fraction{fraction(ctx->FRACTION())}});
  return {};
}

Builder::Any Builder::visitText(DjtParser::TextContext* ctx) {
  expr_ = std::make_unique<Expr>(Expr{span(ctx), String{string_value(ctx->string())}});
  return {};
}

}  // namespace dj
