// SPDX-License-Identifier: Apache-2.0
// Types of expressions: value() where a value is needed, visit() where it may have none (a
// statement).
#include <fmt/format.h>

#include <array>

#include "compiler/check/infer.h"
#include "compiler/check/overload.h"
#include "compiler/check/signature.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

constexpr std::array<std::string_view, 20> kOperators = {"+",   "-",  "*",  "/",  "%",  "<<", ">>",
                                                         ">>>", "&",  "|",  "^",  ".",  "<",  ">",
                                                         "<=",  ">=", "==", "!=", "&&", "||"};
constexpr std::array<std::string_view, 4> kUnaries = {"-", "+", "!", "~"};

std::string quoted(ast::BinOp op) {
  return fmt::format("`{}`", kOperators[static_cast<size_t>(op)]);
}

// To inference all numbers are alike.
Type alike(Type type) { return type == Type::Double ? Type::Int : type; }

std::string append_help(ast::BinOp op, bool assigned) {
  if (op != ast::BinOp::Add) return "";
  return assigned ? "append to a string by `.=`" : "join strings by `.`";
}

}  // namespace

TypeVar Infer::value(Expr& e) {
  TypeVar v = visit(e);
  if (e.type != Type::Void) return v;
  no_value(e);
  return table_.open();
}

// The value of operator `e`. Where its operands are wrong, that says nothing of what was meant, and
// what is around it stays silent.
template <class Operands>
TypeVar Infer::result(Expr& e, Operands operands) {
  const size_t before = diags_.error_count();
  operands();
  if (diags_.error_count() != before) return remember(e, table_.open());
  const auto* binary = std::get_if<Binary>(&e.node);
  return binary && binary->op == ast::BinOp::Concat ? string(e) : number(e);
}

TypeVar Infer::visit(Expr& e) {
  if (is_poisoned(e)) return remember(e, table_.open());
  TypeVar v = std::visit(Overload{
                             [&](IntLit&) { return number(e); },
                             [&](DoubleLit&) { return number(e); },
                             [&](ToDouble&) { return number(e); },
                             [&](StrLit&) { return string(e); },
                             [&](LocalRef&) { return place(e); },
                             [&](GlobalRef&) { return place(e); },
                             [&](ElementRef&) { return place(e); },
                             [&](Unary& u) {
                               return result(e, [&] {
                                 want(*u.operand, Type::Int,
                                      fmt::format("`{}`", kUnaries[static_cast<size_t>(u.op)]));
                               });
                             },
                             [&](Binary& b) { return result(e, [&] { binary(b); }); },
                             [&](Ternary& t) { return ternary(t); },
                             [&](Assign& a) { return assign(a); },
                             [&](Crement& c) {
                               TypeVar where = place(*c.place);
                               std::string_view word = c.delta > 0 ? "`++`" : "`--`";
                               if (!table_.set(where, Type::Int, c.place->span)) {
                                 mismatch(*c.place, where, Type::Int, word, "");
                               }
                               return number(e);
                             },
                             [&](CallFunction& c) { return call(c); },
                             [&](Inlined& i) { return inlined(i); },
                             [&](CallBuiltin& c) {
                               call(c);
                               return table_.known(alike(e.type), e.span);
                             },
                             [&](InArray& i) {
                               keys(i.array, i.keys);
                               return number(e);
                             },
                             [&](StatRead& s) {
                               aggregate_place(*s.place);
                               return number(e);
                             },
                             [&](TargetRef& t) {
                               for (ExprPtr& arg : t.args)
                                 want(*arg, Type::Int, "an index or an address");
                               return table_.known(e.type, e.span);
                             },
                             [&](Defined&) { return number(e); },
                             [&](Print& p) {
                               print(p);
                               return table_.known(e.type, e.span);
                             },
                             [&](HistBucket& h) {
                               aggregate_place(*h.place);
                               want(*h.index, Type::Int, "a bucket's number");
                               return number(e);
                             },
                             [&](Match& m) {
                               want(*m.text, Type::Str, m.negated ? "`!~`" : "`=~`");
                               return number(e);
                             },
                             [&](Take& t) { return place(*t.place); },
                             [&](Caught&) { return string(e); },
                             [&](PrintHist& h) {
                               aggregate_place(*h.place);
                               return h.printed ? table_.open() : string(e);
                             },
                         },
                         e.node);
  return remember(e, v);
}

TypeVar Infer::place(Expr& e) {
  if (LocalRef* local = std::get_if<LocalRef>(&e.node)) {
    return remember(e, frame_->locals[local->local]);
  }
  GlobalId global;
  if (ElementRef* element = std::get_if<ElementRef>(&e.node)) {
    keys(element->array, element->keys);
    global = element->array;
  } else {
    global = std::get<GlobalRef>(e.node).global;
  }
  if (program_.globals[global].value == Type::Stat) return aggregate_misuse(global, e.span);
  return remember(e, global_values_[global]);
}

void Infer::aggregate_place(Expr& e) {
  if (ElementRef* element = std::get_if<ElementRef>(&e.node)) keys(element->array, element->keys);
  remember(e, table_.known(Type::Stat, e.span));
}

TypeVar Infer::aggregate_misuse(GlobalId global, Span span) {
  GlobalFacts& facts = notes_.facts.globals[global];
  if (!facts.reported) {
    facts.reported = true;
    const std::string& name = program_.globals[global].name;
    Diag& diag = diags_.error(
        "DJ2103", span, fmt::format("`{}` is an aggregate: it has no value of its own", name));
    if (facts.aggregate) diag.labels.push_back({*facts.aggregate, "made an aggregate here"});
    diag.help =
        "use @count(x), @sum(x), @min(x), @max(x) or @avg(x); only `<<<` and delete change it";
  }
  return table_.open();
}

void Infer::keys(GlobalId array, std::vector<ExprPtr>& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;  // '*'
    TypeVar v = value(*given[i]);
    flow({global_keys_[array][i], key_words(array, i)}, *given[i], v);
  }
}

void Infer::binary(Binary& b) {
  if (b.op == ast::BinOp::Concat) {
    // $p.member, as C has it for a structure.
    const bool member = std::holds_alternative<TargetRef>(b.left->node) &&
                        std::holds_alternative<LocalRef>(b.right->node);
    const size_t before = diags_.error_count();
    want_both(b, Type::Str, "`.`",
              member ? "members are reached by `->`: $variable->member"
                     : "sprint(x) makes a string of a number");
    const Span &left = b.left->span, &right = b.right->span;
    const bool here = left.file == right.file && left.via == 0 && right.via == 0;
    if (member && here && diags_.error_count() != before)
      diags_.last().fixes.push_back({{left.file, left.end, right.begin}, "->"});
  } else if (compares(b.op)) {
    TypeVar left = value(*b.left);
    TypeVar right = value(*b.right);
    const size_t before = diags_.error_count();
    flow({left, fmt::format("the left side of {}", quoted(b.op))}, *b.right, right);
    if (diags_.error_count() != before)
      suggest_text(table_.type(left) == Type::Int ? *b.left : *b.right, diags_.last());
  } else {
    want_both(b, Type::Int, quoted(b.op), append_help(b.op, false));
  }
}

TypeVar Infer::ternary(Ternary& t) {
  want(*t.condition, Type::Int, "a condition");
  TypeVar then = value(*t.then);
  TypeVar otherwise = value(*t.otherwise);
  flow({then, "the value before `:`"}, *t.otherwise, otherwise);
  return then;
}

TypeVar Infer::assign(Assign& a) {
  TypeVar where = place(*a.place);
  const auto* local = std::get_if<LocalRef>(&a.place->node);
  if (local != nullptr && frame_->frame->locals[local->local].name == kAskedBucket) {
    want(*a.value, Type::Int, kAskedBucket);
    table_.set(where, Type::Int, a.value->span);
    return where;
  }
  if (!a.op) {
    TypeVar v = value(*a.value);
    // The variable, not the value, is where a person looks for the type.
    if (table_.type(v) != Type::Unknown) table_.set(where, table_.type(v), a.place->span);
    flow({where, describe(*a.place)}, *a.value, v);
    return where;
  }
  bool append = *a.op == ast::BinOp::Concat;
  Type type = append ? Type::Str : Type::Int;
  std::string word = append ? "`.=`" : fmt::format("`{}=`", kOperators[static_cast<size_t>(*a.op)]);
  if (!table_.set(where, type, a.place->span)) {
    mismatch(*a.place, where, type, word, append ? "" : append_help(*a.op, true));
    value(*a.value);
    return where;
  }
  want(*a.value, type, word, append ? "sprint(x) makes a string of a number" : "");
  return where;
}

TypeVar Infer::call(CallFunction& c) {
  const Function& callee = program_.functions[c.function];
  for (size_t i = 0; i < c.args.size(); ++i) {
    TypeVar v = value(*c.args[i]);
    flow({function_frames_[c.function].locals[i],
          fmt::format("argument {} (`{}`) of `{}`", i + 1, callee.frame.locals[i].name,
                      callee.name)},
         *c.args[i], v);
  }
  return results_[c.function];
}

TypeVar Infer::inlined(Inlined& i) {
  const FunctionFacts& facts = notes_.facts.functions[i.function];
  for (size_t p = 0; p < facts.param_types.size(); ++p) {
    if (facts.param_types[p] != Type::Unknown)
      table_.set(frame_->locals[i.first + p], facts.param_types[p], facts.param_spans[p]);
  }
  const Type declared = program_.functions[i.function].result;
  if (facts.result_declared && declared != Type::Void)
    table_.set(frame_->locals[i.result], declared, *facts.result_declared);
  stmt(*i.body);
  return frame_->locals[i.result];
}

void Infer::call(CallBuiltin& c) {
  const Builtin& row = builtins()[c.builtin];
  Signature signature = parse_signature(row.signature);
  for (size_t i = 0; i < c.args.size(); ++i) {
    want(*c.args[i], alike(signature.params[i]),
         fmt::format("argument {} of `{}`", i + 1, row.name));
  }
}

void Infer::print(Print& p) {
  const PrintNote& note = notes_.prints[p.format];
  for (size_t i = 0; i < p.args.size(); ++i) {
    if (!note.formatted) {
      value(*p.args[i]);
      continue;
    }
    const Conversion& conversion = note.conversions[i];
    std::string word = conversion.star ? fmt::format("the `*` of `{}`", conversion.text)
                                       : fmt::format("`{}`", conversion.text);
    TypeVar v = value(*p.args[i]);
    Type wanted = alike(conversion.type);
    if (table_.set(v, wanted, p.args[i]->span)) continue;
    std::string help = conversion.star       ? ""
                       : wanted == Type::Int ? "print a string by %s"
                                             : "print a number by %d";
    if (Diag* diag = mismatch(*p.args[i], v, wanted, word, help)) {
      diag->labels.push_back({conversion.span, fmt::format("this needs {}", type_words(wanted))});
    }
  }
}

}  // namespace dj
