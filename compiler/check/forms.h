// SPDX-License-Identifier: Apache-2.0
// Forms: what each form of the syntax becomes, by the files that say so; each takes the body in
// which the form stands. A new form is a function here, and its case in Binder::stmt()
// (bind_stmt.cpp) or Binder::expr() (bind_expr.cpp). What has a mistake is reported and becomes
// poison().
#pragma once
#include "compiler/check/binder.h"

namespace dj {

// --- bind_stmt.cpp
// A condition: warns when it is a plain assignment.
ExprPtr bind_condition(Binder& binder, const ast::Expr& e);
// The statement as a loop's body: break and continue are allowed.
StmtPtr loop_body(Binder& binder, const ast::Stmt& s);
// The local that a foreach fills. What the body must begin with goes into `prologue`.
LocalId loop_variable(Binder& binder, const ast::LoopKey& key, std::vector<StmtPtr>& prologue);

// --- bind_expr.cpp
ExprPtr bind_name(Binder& binder, const ast::Name& n, Span span);
ExprPtr bind_element(Binder& binder, const ast::Index& i, Span span, bool may_slice = false);
// The left side of an assignment: null when it is not one (reported).
ExprPtr bind_place(Binder& binder, const ast::Expr& e);
// The global `name` as an array with `keys` keys; nullopt when it is none (reported).
std::optional<GlobalId> find_array(Binder& binder, const std::string& name, Span span, size_t keys);
// The global is used with other keys than before: said once.
void report_shape(Binder& binder, GlobalId global, Span span, std::string message);

// --- bind_snapshot.cpp
// The statements of a block; `snapshot(a)` takes the block behind it.
StmtPtr bind_block(Binder& binder, const ast::Block& b, Span span);
ExprPtr bind_snapshot(Binder& binder, const ast::Call& c, Span span);
// Once all bodies are bound: an aggregate and what it is a snapshot of keep the same histograms.
void share_snapshot_shapes(Program& program, const Notes& notes, Diags& diags);

// --- bind_call.cpp
ExprPtr bind_call(Binder& binder, const ast::Call& c, Span span);
// id: of one of the overloads that builtins.def has of c.name.
ExprPtr call_builtin(Binder& binder, BuiltinId id, const ast::Call& c, Span span);
// The row of stdlib/builtins.def; nullopt: no built-in has this name.
std::optional<BuiltinId> find_builtin(std::string_view name);
// @name(...) but for @var and @cast.
ExprPtr bind_at(Binder& binder, const ast::At& a, Span span);
// The aggregate an @op or a histogram is asked of; null when it is none (reported).
ExprPtr bind_aggregate(Binder& binder, const ast::At& a, const ast::Expr& e);

// --- bind_function.cpp
// The statements of a function, after add_local() of its parameters, the first of which is
// `first_parameter`.
StmtPtr function_body(Binder& binder, const ast::Stmt& s, FunctionId id,
                      LocalId first_parameter = 0);
StmtPtr bind_next(Binder& binder, Span span);

// --- bind_inlined.cpp
// A call of a function that reads target variables, with its arguments.
ExprPtr bind_inlined(Binder& binder, FunctionId id, std::vector<ExprPtr> args, Span span);
// The names of all functions that read target variables, or call one that does.
std::unordered_set<std::string> functions_of_probes(const ast::Script& script);

// --- bind_stat.cpp
// The global keeps what the operator is computed from.
void want_stat(Binder& binder, GlobalId global, StatOp op);
ExprPtr bind_stat(Binder& binder, StatOp op, const ast::At& a, Span span);
ExprPtr bind_bucket(Binder& binder, const ast::Member& m, Span span);
StmtPtr bind_bucket_loop(Binder& binder, const ast::Foreach& f, Span span);
ExprPtr bind_in_histogram(Binder& binder, const ast::In& i, Span span);

// --- bind_print.cpp
// printf, print, println ...: callable without being functions.
bool is_print_name(std::string_view name);
std::vector<std::string> print_names();
ExprPtr bind_print(Binder& binder, const ast::Call& c, Span span);
// A PrintHist. at_span: of the operator, span: of what prints it; printed: false where its text is
// a value.
ExprPtr bind_histogram(Binder& binder, const ast::At& a, Span at_span, Span span,
                       bool printed = true);

// --- bind_regex.cpp
ExprPtr bind_match(Binder& binder, const ast::Match& m, Span span);

// --- bind_target.cpp
ExprPtr bind_target(Binder& binder, const TargetView& t, Span span);
// False: there is no such thing where the body runs (reported).
bool target_allowed(Binder& binder, const TargetView& t, Span span);
// The probe's, or the functions', target that equals `wanted`, made on its first use.
TargetId intern(Binder& binder, TargetExpr wanted);
// nullopt: reported. args may be null: element indexes are then not evaluated (@defined).
std::optional<TargetId> intern_target(Binder& binder, const TargetView& t, Span span,
                                      std::vector<ExprPtr>* args);

// --- bind_defined.cpp
ExprPtr bind_defined(Binder& binder, const ast::At& a, Span span);
ExprPtr bind_choose_defined(Binder& binder, const ast::At& a, Span span);

// --- bind_entry.cpp
ExprPtr bind_entry(Binder& binder, const ast::At& a, Span span);
ExprPtr bind_exit(Binder& binder, const ast::At& a, Span span);

// --- bind_register.cpp
// register, uint_arg, pointer_arg ...: raw values of the probed place, without debug info.
bool is_register_name(std::string_view name);
std::vector<std::string> register_names();
ExprPtr bind_register(Binder& binder, const ast::Call& c, Span span);
// Appends to the arguments of a call what the functions of that name read of the probed place.
void pass_registers(Binder& binder, const std::string& name, Span span, std::vector<ExprPtr>& args);
ExprPtr bind_print_registers(Binder& binder, const ast::Call& c, Span span);

// --- bind_condition.cpp
// probe POINT if (e).
ExprPtr bind_arming_condition(Binder& binder, const ast::Expr& e);

// What a literal is as a value: a NUL ends it, as in C and SystemTap. Formats go on behind one.
inline std::string until_nul(const std::string& text) { return text.substr(0, text.find('\0')); }

}  // namespace dj
