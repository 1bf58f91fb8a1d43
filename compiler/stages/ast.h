// SPDX-License-Identifier: Apache-2.0
// STAGE TYPE Script: what parse() makes of the text, names still spelled, nothing typed.
// Written by compiler/parse, read by compiler/check and the printer only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/diag/source.h"

namespace dj::ast {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

struct Number { int64_t value; };
struct Fraction { double value; };     // 1.5, 1e9
struct String { std::string value; };  // escapes already decoded
struct Name { std::string name; };     // local or global, decided by check
// a[k1, k2]; a null key is a '*': the slice of all elements whose other keys agree.
struct Index { std::string name; Span name_span; std::vector<ExprPtr> keys; };
struct Call { std::string name; Span name_span; std::vector<ExprPtr> args; };

// One step behind a target variable: ->field, .field (never parsed: '.' is concat), [expr].
struct Access {
  enum Kind : uint8_t { Field, Element } kind;
  std::string field;
  ExprPtr index;
  Span span;
};
// $name->a[i], &$name. name without the '$'. "$return" has name "return";
// $$vars, $$parms, $$locals, $$return have name "$vars" and so on.
// pretty: the number of '$' that end the whole: $x$ prints a struct, $x$$ what it holds, too.
struct Target {
  std::string name;
  bool address_of = false;
  std::vector<Access> path;
  int pretty = 0;
};
// The same steps behind a value that is no target variable: @cast(p, "t")->x, @hist_log(a)[2].
struct Member { ExprPtr base; bool address_of = false; std::vector<Access> path; int pretty = 0; };
// @defined($x): arguments are kept unevaluated. @count(e) ... are At too: op without the '@'.
struct At { std::string op; Span op_span; std::vector<ExprPtr> args; };

enum class UnOp : uint8_t { Neg, Plus, Not, BitNot };
enum class BinOp : uint8_t {
  Add, Sub, Mul, Div, Mod, Shl, Shr, UShr, And, Or, Xor, Concat,
  Lt, Gt, Le, Ge, Eq, Ne, LogAnd, LogOr,
};
constexpr bool compares(BinOp op) { return op >= BinOp::Lt && op <= BinOp::Ne; }
struct Unary { UnOp op; ExprPtr operand; };
struct Binary { BinOp op; Span op_span; ExprPtr left, right; };
struct Ternary { ExprPtr condition, then, otherwise; };
// left = right (op empty), left op= right, left <<< right (stat_add).
struct Assign { std::optional<BinOp> op; bool stat_add = false; Span op_span; ExprPtr left, right; };
struct Crement { bool prefix; int delta; ExprPtr operand; };  // delta is +1 or -1
// [k1, *] in a. histogram: an At instead of a name; else null.
struct In { std::vector<ExprPtr> keys; std::string array; Span array_span; ExprPtr histogram; };
// text =~ "pattern", text !~ "pattern"
struct Match { bool negated; ExprPtr text; std::string pattern; Span pattern_span; };

struct Expr {
  Span span;
  std::variant<Number, Fraction, String, Name, Index, Call, Target, At, Unary, Binary, Ternary, Assign, Crement, In,
               Member, Match> node;
};

struct Block { std::vector<StmtPtr> body; };
struct Empty {};
struct ExprStmt { ExprPtr expr; };
struct If { ExprPtr condition; StmtPtr then, otherwise; };  // otherwise may be null
struct While { ExprPtr condition; StmtPtr body; };
struct For { ExprPtr init, condition, step; StmtPtr body; };  // each may be null but body
// foreach (v = [k1+, k2-] in a@op- limit n). sort: +1 ascending, -1 descending, 0 none.
struct LoopKey { std::string name; Span span; int sort = 0; };
struct Foreach {
  std::optional<LoopKey> value;
  std::vector<LoopKey> keys;
  std::string array;
  Span array_span;
  ExprPtr histogram;           // foreach (bucket in @hist_log(x)): an At, and no array; else null
  std::vector<ExprPtr> slice;  // in a[*, 3]: as Index::keys; empty: the whole array
  std::string array_op;  // "count", "sum" ... of a@count-; empty: none
  Span array_op_span;
  int array_sort = 0;
  ExprPtr limit;  // may be null
  StmtPtr body;
};
struct Break {};
struct Continue {};
struct Next {};
struct Return { ExprPtr value; };  // may be null
struct Delete { ExprPtr what; };   // Name or Index
// try { } catch (error) { }; error may be empty.
struct Try { StmtPtr body; std::string error; Span error_span; StmtPtr handler; };

struct Stmt {
  Span span;
  std::variant<Block, Empty, ExprStmt, If, While, For, Foreach, Break, Continue, Next, Return, Delete,
               Try> node;
};

// One component of a probe point: func("x"), timer, ms(10), begin.
struct Component {
  std::string name;
  Span name_span;
  std::variant<std::monostate, int64_t, std::string> argument;
  Span argument_span;  // of the literal, quotes included
};
struct ProbePoint {
  Span span;
  std::vector<Component> components;
  bool optional = false;    // '?'
  bool sufficient = false;  // '!'
  bool wild = false;        // one of those that names with '*' in them mean: others will do
  std::shared_ptr<const Expr> condition;  // if (condition): armed while it holds; may be null
};
struct Probe {
  Span span;
  std::vector<ProbePoint> points;
  StmtPtr body;  // a Block
  // Of a probe that uses an alias: what its own statements write, for @probewrite(x) in the alias.
  std::vector<std::string> writes;
};

// probe name = points { prologue } and probe name += points { epilogue }, or both bodies.
struct Alias {
  Span span;
  std::vector<ProbePoint> names;
  std::vector<ProbePoint> points;
  StmtPtr prologue, epilogue;  // Blocks; one of them may be null
};

struct GlobalDecl {
  std::string name;
  Span span;
  bool is_private = false, wrap = false;
  std::optional<int64_t> capacity;  // [N]
  ExprPtr init;                     // Number, Fraction or String, may be null
};
struct Param { std::string name; Span span; std::string type; };  // type "", "long" or "string"
struct FunctionDecl {
  std::string name;
  Span name_span;
  bool is_private = false;
  std::string type;  // "", "long" or "string"
  std::vector<Param> params;
  std::optional<int64_t> priority;  // function f():N, among functions of one name
  StmtPtr body;
};

struct Script {
  std::vector<GlobalDecl> globals;
  std::vector<FunctionDecl> functions;
  std::vector<Probe> probes;
  std::vector<Alias> aliases;
};

}  // namespace dj::ast
