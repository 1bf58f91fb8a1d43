// SPDX-License-Identifier: Apache-2.0
// STAGE TYPE Program: every name an id, every expression a type. Written by compiler/check, read by
// resolve (probe points and targets) and lower (all). No name is looked up by its spelling from
// here on. A script value is an int (64 bits, signed), a double or a string; a target expression
// ($x->y) is a number, its text forms ($$parms) are strings: so check needs no debug info. Which of
// them are doubles resolve finds out; where there are any, the script is checked once more
// (doubles.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/diag/source.h"
#include "compiler/stages/ast.h"

namespace dj {

enum class Type : uint8_t { Unknown, Int, Str, Stat, Void, Double };

using GlobalId = uint32_t;    // Program::globals
using FunctionId = uint32_t;  // Program::functions
using ProbeId = uint32_t;     // Program::probes
using LocalId = uint32_t;     // Frame::locals of the function or probe the node stands in
using TargetId = uint32_t;    // Probe::targets; in a function Program::function_targets
using BuiltinId = uint32_t;   // row of stdlib/builtins.def (stdlib/builtins.h)
using FormatId = uint32_t;    // Program::formats

// How handlers use a global: decides its storage (layout.h).
enum class Storage : uint8_t {
  Counter,  // int that handlers only ++, --, +=, -= with the value unused: one slot per CPU
  Scalar,   // int or string that handlers also read or set: one atomic word
  Stats,    // scalar aggregate: one Stat per CPU
  Array,    // map; value type Int, Str or Stat
};

// Linear histogram of an aggregate: buckets for start, start+step .. stop.
struct Linear {
  int64_t start = 0, stop = 0, step = 1;
};

// ArrayUse says how large an array becomes and what handlers do to its elements.
struct ArrayUse {
  int64_t capacity = 0;  // 0: the default (MAXMAPENTRIES)
  bool wrap = false;     // a full array gives up its oldest element for a new one
  bool grows = false;    // nothing is ever taken out of it: no delete, no snapshot, no wrap
  bool sums = false;     // it grows, and handlers only add to its ints
};

// StatsAsked says what the script asks of an aggregate beside count, sum, minimum and maximum.
struct StatsAsked {
  bool hist_log = false;
  bool variance = false, percentiles = false;  // @variance; @p50 ..., @hist
  std::optional<Linear> hist_linear;           // @hist_linear with these bounds
};

struct Global {
  std::string name;
  Span span;               // declaration, or first use of an auto-global
  Type value = Type::Int;  // of the scalar, or of the array's elements
  std::vector<Type> keys;  // empty: not an array
  Storage storage = Storage::Scalar;
  enum class By : uint8_t {
    Declaration,
    Use,   // auto-global
    Djtap  // no report shows it
  } by = By::Declaration;
  bool own() const { return by == By::Djtap; }
  bool ever_read = false;  // false: printed at exit
  bool ever_written = false;
  ArrayUse array;
  std::variant<std::monostate, int64_t, std::string, double> init;
  StatsAsked asked;  // of the scalar, or of the array's elements
  // Bit 0: the value is a pointer; bit i + 1: key number i is. Shown in hexadecimal at exit.
  uint64_t pointers = 0;
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

struct IntLit {
  int64_t value;
};
struct DoubleLit {
  double value;
};
struct StrLit {
  std::string value;
};
struct LocalRef {
  LocalId local;
};
struct GlobalRef {
  GlobalId global;
};
// a[k..]. A null key is a '*': all elements whose other keys agree (in delete and StatRead only).
struct ElementRef {
  GlobalId array;
  std::vector<ExprPtr> keys;
};
inline bool is_slice(const std::vector<ExprPtr>& keys) {
  for (const ExprPtr& key : keys) {
    if (!key) return true;
  }
  return false;
}
struct ToDouble {
  ExprPtr operand;
};  // of an Int
struct Unary {
  ast::UnOp op;
  ExprPtr operand;
};  // Int; Neg and Plus also Double
// Int x Int; Concat and comparisons also Str x Str; + - * / and comparisons also Double x Double.
struct Binary {
  ast::BinOp op;
  ExprPtr left, right;
};
struct Ternary {
  ExprPtr condition, then, otherwise;
};
// place = value, place op= value. place is LocalRef, GlobalRef or ElementRef. Concat for ".=".
struct Assign {
  std::optional<ast::BinOp> op;
  ExprPtr place, value;
};
struct Crement {
  bool prefix;
  int delta;
  ExprPtr place;
};
struct CallFunction {
  FunctionId function;
  std::vector<ExprPtr> args;
};
// A call of a function that reads the probe's target variables: the function's statements stand in
// the probe itself, where they have a meaning. A Return in them ends them, and has no value.
struct Inlined {
  FunctionId function;
  LocalId first, end;  // its locals, parameters first: 0 or "" at each call
  LocalId result;      // set by what returns a value
  StmtPtr body;        // first of all it sets the parameters
};
struct CallBuiltin {
  BuiltinId builtin;
  std::vector<ExprPtr> args;
};
struct InArray {
  GlobalId array;
  std::vector<ExprPtr> keys;
};  // keys as ElementRef's
// @count(place) and friends; place is GlobalRef or ElementRef of a Stat.
enum class StatOp : uint8_t { Count, Sum, Min, Max, Avg, Variance, P50, P90, P95, P99, P999 };
struct StatRead {
  StatOp op;
  ExprPtr place;
};
// $x->y[i]: args are the script expressions inside [..] that are not constants, in order.
struct TargetRef {
  TargetId target;
  std::vector<ExprPtr> args;
};
struct Defined {
  TargetId target;
};  // @defined($x): a constant once sites are resolved

// printf, print, println (printed = true) and sprintf (printed = false, type Str).
struct Print {
  bool printed;
  FormatId format;
  std::vector<ExprPtr> args;
};
// text =~ pattern; program: compiled by compiler/regex, as runtime/shared/regex.h describes it.
struct Match {
  bool negated;
  ExprPtr text;
  std::string program;
};
struct Take {
  ExprPtr place;
};  // snapshot(place): its value, and from here on it is 0 or absent
struct Caught {};  // the text of the error that the innermost catch handles
// print(@hist_log(s)), println(...), or sprint(...), whose value it is: kind of histogram of place.
struct PrintHist {
  bool linear;
  ExprPtr place;
  uint8_t bits = 0;  // @hist(s, bits): each power of two is parted in 2^bits
  bool printed = true;
};
struct HistBucket {
  bool linear;
  ExprPtr place, index;
};  // @hist_log(s)[i]: its count

struct Expr {
  Type type = Type::Unknown;
  Span span;
  std::variant<IntLit, StrLit, LocalRef, GlobalRef, ElementRef, Unary, Binary, Ternary, Assign,
               Crement, CallFunction, CallBuiltin, InArray, StatRead, TargetRef, Defined, Print,
               PrintHist, HistBucket, Match, Take, Caught, DoubleLit, ToDouble, Inlined>
      node;
};

struct Block {
  std::vector<StmtPtr> body;
};
struct ExprStmt {
  ExprPtr expr;
};  // the value is discarded
struct StatAdd {
  ExprPtr place, value;
};  // place <<< value
struct If {
  ExprPtr condition;
  StmtPtr then, otherwise;
};
// while and for: init already stands before it; step may be null; condition may be null (true).
struct Loop {
  ExprPtr condition, step;
  StmtPtr body;
};
// Sort by: nothing, key number `sort_key`, the value (Int/Str arrays), or a StatOp of the value.
struct Foreach {
  GlobalId array;
  std::vector<ExprPtr> slice;  // as ElementRef's keys; empty: the whole array
  std::vector<LocalId> keys;
  std::optional<LocalId> value;
  enum class Sort : uint8_t { None, Key, Value, Stat } sort = Sort::None;
  uint32_t sort_key = 0;
  StatOp sort_stat = StatOp::Count;
  bool descending = false;
  ExprPtr limit;  // may be null
  StmtPtr body;
};
struct Break {};
struct Continue {};
struct Next {};
struct Return {
  ExprPtr value;
};
struct DeleteElement {
  ExprPtr element;
};  // ElementRef
struct DeleteGlobal {
  GlobalId global;
};  // whole array, or a scalar back to 0, "" or empty

// A script error in the body goes on in the handler, which begins with `message = Caught`.
struct Try {
  StmtPtr body, handler;
};

// snapshot(a) { body }: what was in `from` is in `to`, which only the body knows; `from` is empty.
struct Snapshot {
  GlobalId from, to;
  StmtPtr body;
};

struct Stmt {
  Span span;
  std::variant<Block, ExprStmt, StatAdd, If, Loop, Foreach, Break, Continue, Next, Return,
               DeleteElement, DeleteGlobal, Try, Snapshot>
      node;
};

struct Local {
  std::string name;
  Type type = Type::Int;
};
struct Frame {
  std::vector<Local> locals;
};  // a function's parameters come first

struct Function {
  std::string name;
  Span span;
  uint32_t param_count = 0;
  Type result = Type::Void;
  Frame frame;
  StmtPtr body;
};

// One distinct target expression of a probe: $name with its access path. Elements with a constant
// index carry it; the others take the next of TargetRef::args. The pointer of a cast is the first.
struct TargetStep {
  enum Kind : uint8_t { Field, ConstElement, ArgElement } kind;
  std::string field;
  int64_t index = 0;
  Span span;
};
struct TargetExpr {
  Span span;       // of its first use
  Span name_span;  // the $name alone
  enum Base : uint8_t {
    Variable,
    Var,       // @var
    Cast,      // @cast; name is the type, or that of the pointer whose type `like` says
    Register,  // register("rax"): name is the register
    Argument,  // int_arg(n): index is n
    Call,      // @entry(tid()): a built-in without parameters, index is its BuiltinId
  } base = Variable;
  std::string name;    // as ast::Target::name
  std::string module;  // of @var and @cast, as written; empty: that of the probed place
  bool address_of = false;
  uint8_t pretty = 0;  // as ast::Target::pretty; the value is then a string
  std::vector<TargetStep> path;
  // Of a Cast: what the pointer was assigned to in the script; these have one type where they
  // exist.
  std::vector<TargetExpr> like;
  int64_t index = 0;       // Argument: 1 is the first
  uint8_t bytes = 8;       // Register, Argument: how many of them count
  bool is_signed = false;  // and how they are extended
  bool at_exit = false;    // @exit(...): read where the function returns, by the entry's pointer
};

struct Probe {
  Span span;
  std::vector<ast::ProbePoint> points;  // not yet resolved; spans into the script
  std::vector<TargetExpr> targets;
  Frame frame;
  StmtPtr body;
  // probe POINT if (condition): globals, literals and operators only; null: always armed. The body
  // tests it too, so sites may stay armed while it is false.
  ExprPtr condition;
  bool empty = false;  // the body does nothing
  bool own = false;    // djtap has added it: it is none of the script's
  // -t: a counter of hits, also of those whose handler ends before its end or never begins.
  std::optional<GlobalId> hits;
};

// A printf format, split. Literal pieces have conv 0. See runtime/shared/format.h for the
// conversions.
struct Format {
  std::string text;             // as the runtime formatter takes it
  std::vector<Type> arguments;  // Int, Double or Str, '*' widths included
};

struct Program {
  std::vector<Global> globals;
  std::vector<Function> functions;
  std::vector<Probe> probes;
  std::vector<Format> formats;
  std::vector<TargetExpr> function_targets;  // @cast and @var of functions: they mean no place
};

}  // namespace dj
