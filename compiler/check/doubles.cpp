// SPDX-License-Identifier: Apache-2.0
// Which numbers are doubles: all bodies again and again until no slot changes, once more to
// convert.
#include "compiler/check/doubles.h"

#include <fmt/format.h>

#include "compiler/check/overload.h"
#include "compiler/check/signature.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

constexpr std::string_view kRounders = "round(x), trunc(x), floor(x) and ceil(x) make one";

bool has_fractions(ast::BinOp op) {
  return op == ast::BinOp::Add || op == ast::BinOp::Sub || op == ast::BinOp::Mul ||
         op == ast::BinOp::Div;
}

bool has_bits(ast::BinOp op) {
  return op == ast::BinOp::Mod || (op >= ast::BinOp::Shl && op <= ast::BinOp::Xor);
}

}  // namespace

void Doubles::run() {
  for (Global& global : program_.globals) {
    if (std::holds_alternative<double>(global.init)) global.value = Type::Double;
  }
  do {
    changed_ = false;
    visit_all();
  } while (changed_);
  last_ = true;
  visit_all();
  for (Global& global : program_.globals) {
    const int64_t* number = std::get_if<int64_t>(&global.init);
    if (global.value == Type::Double && number != nullptr)
      global.init = static_cast<double>(*number);
  }
}

void Doubles::visit_all() {
  for (function_ = 0; function_ < program_.functions.size(); ++function_) {
    frame_ = &program_.functions[function_].frame;
    stmt(*program_.functions[function_].body);
  }
  for (probe_ = 0; probe_ < program_.probes.size(); ++probe_) {
    frame_ = &program_.probes[probe_].frame;
    if (ExprPtr& condition = program_.probes[probe_].condition) visit(condition);
    stmt(*program_.probes[probe_].body);
  }
}

Type Doubles::visit(ExprPtr& p) {
  Expr& e = *p;
  e.type =
      std::visit(Overload{
                     [&](DoubleLit&) { return Type::Double; },
                     [&](LocalRef&) { return place(e); },
                     [&](GlobalRef&) { return place(e); },
                     [&](ElementRef&) { return place(e); },
                     [&](ToDouble&) { return Type::Double; },
                     [&](Unary& u) {
                       if (u.op == ast::UnOp::BitNot) want_whole(u.operand, "`~`");
                       Type type = u.op == ast::UnOp::BitNot ? Type::Int : visit(u.operand);
                       return u.op == ast::UnOp::Not ? Type::Int : type;
                     },
                     [&](Binary& b) { return binary(b); },
                     [&](Ternary& t) {
                       visit(t.condition);
                       Type then = visit(t.then), otherwise = visit(t.otherwise);
                       if (then != Type::Double && otherwise != Type::Double) return then;
                       convert(t.then, then);
                       convert(t.otherwise, otherwise);
                       return Type::Double;
                     },
                     [&](Assign& a) { return assign(a); },
                     [&](Crement& c) { return place(*c.place); },
                     [&](CallFunction& c) { return call(c); },
                     [&](Inlined& i) {
                       stmt(*i.body);
                       return e.type == Type::Void ? e.type : frame_->locals[i.result].type;
                     },
                     [&](CallBuiltin& c) { return call(c, c.args); },
                     [&](InArray& i) {
                       keys(i.array, i.keys);
                       return Type::Int;
                     },
                     [&](StatRead& s) {
                       place(*s.place);
                       return Type::Int;
                     },
                     [&](TargetRef& t) {
                       for (ExprPtr& arg : t.args) want_whole(arg, "an index or an address");
                       return is_double(t.target) ? Type::Double : e.type;
                     },
                     [&](Print& p) {
                       print(p);
                       return e.type;
                     },
                     [&](PrintHist& h) {
                       place(*h.place);
                       return e.type;
                     },
                     [&](HistBucket& h) {
                       place(*h.place);
                       want_whole(h.index, "a bucket's number");
                       return Type::Int;
                     },
                     [&](Match& m) {
                       visit(m.text);
                       return Type::Int;
                     },
                     [&](auto&) { return e.type; },  // other literals, @defined, what was caught
                 },
                 e.node);
  return e.type;
}

bool Doubles::is_double(TargetId target) const {
  // Behind the probes' rows there is that of the functions.
  const bool in_function = function_ < program_.functions.size();
  const size_t row = in_function ? program_.probes.size() : probe_;
  return row < targets_.size() && target < targets_[row].size() && targets_[row][target];
}

Type Doubles::place(Expr& e) {
  if (ElementRef* element = std::get_if<ElementRef>(&e.node)) keys(element->array, element->keys);
  return e.type = slot_of(e);
}

Type& Doubles::slot_of(const Expr& place) {
  if (const LocalRef* local = std::get_if<LocalRef>(&place.node))
    return frame_->locals[local->local].type;
  if (const ElementRef* element = std::get_if<ElementRef>(&place.node))
    return program_.globals[element->array].value;
  return program_.globals[std::get<GlobalRef>(place.node).global].value;
}

bool Doubles::is_fixed(const Expr& place) const {
  const LocalRef* local = std::get_if<LocalRef>(&place.node);
  if (local == nullptr || function_ >= program_.functions.size()) return false;
  const std::vector<Type>& declared = notes_.facts.functions[function_].param_types;
  return local->local < declared.size() && declared[local->local] == Type::Int;
}

void Doubles::keys(GlobalId array, std::vector<ExprPtr>& given) {
  Global& global = program_.globals[array];
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i]) flow(given[i], global.keys[i], false, "");
  }
}

Type Doubles::binary(Binary& b) {
  if (has_bits(b.op)) {
    want_whole(b.left, "this operator");
    want_whole(b.right, "this operator");
    return Type::Int;
  }
  Type left = visit(b.left), right = visit(b.right);
  if (b.op == ast::BinOp::Concat) return Type::Str;
  if (left != Type::Double && right != Type::Double) return Type::Int;
  if (!has_fractions(b.op) && !compares(b.op)) return Type::Int;  // && and ||
  convert(b.left, left);
  convert(b.right, right);
  return compares(b.op) ? Type::Int : Type::Double;
}

Type Doubles::assign(Assign& a) {
  place(*a.place);
  Type& slot = slot_of(*a.place);
  if (!a.op || has_fractions(*a.op)) {
    flow(a.value, slot, is_fixed(*a.place), "");
  } else if (*a.op == ast::BinOp::Concat) {
    visit(a.value);
  } else {
    want_whole(a.value, "this operator");
    if (slot == Type::Double && last_) refuse(*a.place, "this operator", kRounders);
  }
  return a.place->type = slot;
}

Type Doubles::call(CallFunction& c) {
  Function& callee = program_.functions[c.function];
  const std::vector<Type>& declared = notes_.facts.functions[c.function].param_types;
  for (size_t i = 0; i < c.args.size(); ++i) {
    Local& parameter = callee.frame.locals[i];
    flow(c.args[i], parameter.type, i < declared.size() && declared[i] == Type::Int,
         fmt::format("argument {} (`{}`) of `{}`", i + 1, parameter.name, callee.name));
  }
  return callee.result;
}

Type Doubles::call(const CallBuiltin& c, std::vector<ExprPtr>& args) {
  const Builtin& row = builtins()[c.builtin];
  Signature signature = parse_signature(row.signature);
  for (size_t i = 0; i < args.size(); ++i) {
    if (signature.params[i] == Type::Double) {
      want_double(args[i]);
    } else if (signature.params[i] == Type::Int) {
      want_whole(args[i], fmt::format("argument {} of `{}`", i + 1, row.name));
    } else {
      visit(args[i]);
    }
  }
  return signature.result;
}

void Doubles::print(Print& p) {
  const PrintNote& note = notes_.prints[p.format];
  for (size_t i = 0; i < p.args.size(); ++i) {
    Type wanted = note.formatted ? note.conversions[i].type : Type::Unknown;
    if (wanted == Type::Double) {
      want_double(p.args[i]);
    } else if (wanted == Type::Int) {
      want_whole(p.args[i], fmt::format("`{}`", note.conversions[i].text),
                 note.conversions[i].star ? kRounders : "print it by %f, %e or %g, or round(x)");
    } else {
      visit(p.args[i]);
    }
  }
}

void Doubles::stmt(Stmt& s) {
  auto maybe = [this](ExprPtr& e) {
    if (e) visit(e);
  };
  std::visit(Overload{
                 [&](Block& b) {
                   for (StmtPtr& each : b.body) stmt(*each);
                 },
                 [&](ExprStmt& x) { visit(x.expr); },
                 [&](StatAdd& add) {
                   place(*add.place);
                   want_whole(add.value, "`<<<`",
                              "aggregates hold whole numbers: round(x * 1000) counts thousandths");
                 },
                 [&](If& i) {
                   visit(i.condition);
                   stmt(*i.then);
                   if (i.otherwise) stmt(*i.otherwise);
                 },
                 [&](Loop& loop) {
                   maybe(loop.condition);
                   maybe(loop.step);
                   stmt(*loop.body);
                 },
                 [&](Foreach& loop) { foreach_loop(loop); },
                 [&](Return& r) {
                   if (!r.value) return;
                   if (function_ >= program_.functions.size()) return;
                   Function& function = program_.functions[function_];
                   bool fixed = notes_.facts.functions[function_].result_declared.has_value();
                   flow(r.value, function.result, fixed && function.result == Type::Int,
                        fmt::format("the result of `{}`", function.name));
                 },
                 [&](DeleteElement& d) { place(*d.element); },
                 [&](Try& t) {
                   stmt(*t.body);
                   stmt(*t.handler);
                 },
                 [](auto&) {},  // Break, Continue, Next, DeleteGlobal hold no numbers
             },
             s.node);
}

void Doubles::foreach_loop(Foreach& loop) {
  const Global& array = program_.globals[loop.array];
  for (size_t i = 0; i < loop.keys.size(); ++i) {
    if (array.keys[i] == Type::Double) raise(frame_->locals[loop.keys[i]].type);
  }
  if (loop.value && array.value == Type::Double) raise(frame_->locals[*loop.value].type);
  keys(loop.array, loop.slice);
  if (loop.limit) want_whole(loop.limit, "a limit");
  stmt(*loop.body);
}

void Doubles::raise(Type& slot) {
  if (slot != Type::Int) return;
  slot = Type::Double;
  changed_ = true;
}

void Doubles::convert(ExprPtr& e, Type from) {
  if (!last_ || from != Type::Int) return;
  auto made = std::make_unique<Expr>();
  made->span = e->span;
  made->type = Type::Double;
  made->node = ToDouble{std::move(e)};
  e = std::move(made);
}

void Doubles::flow(ExprPtr& e, Type& slot, bool fixed, std::string_view slot_words) {
  if (fixed) return want_whole(e, slot_words.empty() ? "this variable" : slot_words);
  Type type = visit(e);
  if (type == Type::Double) raise(slot);
  if (slot == Type::Double) convert(e, type);
}

void Doubles::want_whole(ExprPtr& e, std::string_view why, std::string_view help) {
  if (visit(e) == Type::Double && last_) refuse(*e, why, help.empty() ? kRounders : help);
}

void Doubles::refuse(const Expr& e, std::string_view why, std::string_view help) {
  Diag& diag = diags_.error(
      "DJ2101", e.span,
      fmt::format("{} is a number with a fraction, but {} needs a whole one", describe(e), why));
  diag.help = help;
}

std::string Doubles::describe(const Expr& e) const {
  if (const LocalRef* local = std::get_if<LocalRef>(&e.node))
    return fmt::format("`{}`", frame_->locals[local->local].name);
  if (const GlobalRef* global = std::get_if<GlobalRef>(&e.node))
    return fmt::format("`{}`", program_.globals[global->global].name);
  if (const ElementRef* element = std::get_if<ElementRef>(&e.node))
    return fmt::format("an element of `{}`", program_.globals[element->array].name);
  const TargetRef* target = std::get_if<TargetRef>(&e.node);
  if (target == nullptr) return "this";
  if (function_ < program_.functions.size()) return "this";
  const TargetExpr& named = program_.probes[probe_].targets[target->target];
  return named.path.empty() && named.base == TargetExpr::Variable ? fmt::format("${}", named.name)
                                                                  : "this";
}

}  // namespace dj
