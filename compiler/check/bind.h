// Bind: the first pass over the bodies. AST in, Program tree out: every name an id, every form
// checked, types still open. One Binder per function or probe body.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/check/check.h"
#include "compiler/check/notes.h"
#include "compiler/check/pointer_types.h"
#include "compiler/check/uses.h"

namespace dj {

// Declares all functions (so that calls may come before), then binds every body.
void bind(const ast::Script& script, Program& program, Notes& notes, Diags& diags);

// A step behind a target expression's base, as ast::Access has it.
struct ViewStep {
  std::string_view field;
  const ast::Expr* index = nullptr;  // null: it is a field
  Span span;
};
std::vector<ViewStep> view_steps(std::span<const ast::Access> path);

// A target expression in any of its spellings: $x->a, @var("x@f.c")->a, @cast(p, "t")->a.
struct TargetView {
  TargetExpr::Base base = TargetExpr::Variable;
  std::string name, module;  // as in TargetExpr
  bool address_of = false;
  int pretty = 0;
  std::vector<ViewStep> path;
  const ast::Expr* pointer = nullptr;  // of a cast
  bool well_formed = true;             // the arguments of @var and @cast are what they take
  bool at_exit = false;                // inside of @exit(...)
  std::vector<TargetExpr> like;        // as in TargetExpr
};
// @var and @cast: they mean no place in the program, so every probe and function has them.
inline bool is_placeless(const TargetView& view) {
  return view.base == TargetExpr::Var || view.base == TargetExpr::Cast;
}
// None: `e` is no target expression.
std::optional<TargetView> target_view(const ast::Expr& e);
// p->a or p[i], where the script's p was assigned what points somewhere. None: it is not, or `e` no
// such expression.
std::optional<TargetView> pointer_view(const ast::Expr& e, const PointerTypes& pointers);
// name[i], by its form: of a local that points somewhere it is an element there.
bool is_element(const ast::Index& index);
bool same_target(const TargetExpr& a, const TargetExpr& b);

class Binder {
 public:
  // `probe` is null in a function; `source` is the probe's syntax then.
  // `pointers` are of the body that is bound.
  Binder(Program& program, Notes& notes, Diags& diags, Frame& frame, const PointerTypes& pointers,
         Probe* probe, const ast::Probe* source);

  LocalId add_local(const std::string& name);
  StmtPtr body(const ast::Stmt& s) { return stmt(s); }
  // After add_local() of its parameters.
  StmtPtr function_body(const ast::Stmt& s, FunctionId id, LocalId first_parameter = 0);
  // probe POINT if (e): null when it is not one (reported).
  ExprPtr arming_condition(const ast::Expr& e);

 private:
  // bind_stmt.cpp
  StmtPtr stmt(const ast::Stmt& s);
  StmtPtr expr_stmt(const ast::Expr& e, Span span);
  StmtPtr ternary_stmt(const ast::Ternary& t, Span span);
  StmtPtr logical_stmt(const ast::Binary& b, Span span);
  StmtPtr for_loop(const ast::For& f, Span span);
  StmtPtr foreach_loop(const ast::Foreach& f, Span span);
  LocalId loop_variable(const ast::LoopKey& key, std::vector<StmtPtr>& prologue);
  std::vector<ExprPtr> loop_slice(const ast::Foreach& f);
  void foreach_sort(const ast::Foreach& f, Foreach& out);
  StmtPtr delete_stmt(const ast::Delete& d, Span span);
  StmtPtr jump(const ast::Stmt& s, std::string_view word);
  StmtPtr loop_body(const ast::Stmt& s);
  StmtPtr try_stmt(const ast::Try& t, Span span);
  StmtPtr next_stmt(Span span);
  StmtPtr return_stmt(const ast::Return& r, Span span);
  // A condition: warns when it is a plain assignment.
  ExprPtr condition(const ast::Expr& e);

  // bind_expr.cpp
  ExprPtr expr(const ast::Expr& e);
  std::vector<ExprPtr> exprs(const std::vector<ast::ExprPtr>& list);  // a null one stays null
  ExprPtr name(const ast::Name& n, Span span);
  ExprPtr element(const ast::Index& i, Span span, bool may_slice = false);
  ExprPtr binary(const ast::Binary& b, Span span);
  ExprPtr assign(const ast::Assign& a, Span span);
  ExprPtr crement(const ast::Crement& c, Span span);
  ExprPtr in_array(const ast::In& i, Span span);
  // The left side of an assignment: null when it is not one (reported).
  ExprPtr place(const ast::Expr& e);
  // The global `name` as an array with `keys` keys; nullopt when it is none (reported).
  std::optional<GlobalId> array(const std::string& name, Span span, size_t keys);
  void undeclared(const std::string& name, Span span, std::string_view what);
  bool is_array(GlobalId global) const { return !program_.globals[global].keys.empty(); }
  void report_shape(GlobalId global, Span span, std::string message);

  // bind_snapshot.cpp
  // The statements of a block; `snapshot(a)` takes the block behind it.
  StmtPtr block(const ast::Block& b, Span span);
  ExprPtr snapshot_value(const ast::Call& c, Span span);
  StmtPtr snapshot_block(const ast::Call& c, const ast::Stmt& body, Span span);
  const ast::Call* snapshot_call(const ast::Stmt& s) const;
  GlobalId snapshot_copy(GlobalId from);

  // bind_call.cpp
  ExprPtr call(const ast::Call& c, Span span);
  // bind_inlined.cpp
  // A call of a function that reads target variables, with its arguments; null: there is a mistake.
  ExprPtr inlined(FunctionId id, std::vector<ExprPtr> args, Span span);
  Inlined begin_inlined(FunctionId id);
  bool may_inline(FunctionId id, Span span);
  bool is_function() const { return probe_ == nullptr || !inlined_.empty(); }

  ExprPtr call_script(const std::vector<FunctionId>& overloads, const ast::Call& c, Span span);
  ExprPtr call_builtin(BuiltinId id, const ast::Call& c, Span span);
  ExprPtr undefined_function(const ast::Call& c, Span span);
  ExprPtr at(const ast::At& a, Span span);
  ExprPtr probe_writes(const ast::At& a, Span span);
  // The aggregate an @op or a histogram is asked of; null when it is none (reported).
  ExprPtr aggregate(const ast::At& a, const ast::Expr& e);
  ExprPtr match(const ast::Match& m, Span span);

  // bind_stat.cpp
  // The global keeps what the operator is computed from.
  void want_stat(GlobalId global, StatOp op);
  ExprPtr stat_read(StatOp op, const ast::At& a, Span span);
  ExprPtr hist_bucket(const ast::Member& m, Span span);
  StmtPtr bucket_loop(const ast::Foreach& f, Span span);
  ExprPtr counted_histogram(const ast::At& a, Span span);
  ExprPtr buckets_of(const ast::Expr& e, Span span);
  ExprPtr in_histogram(const ast::In& i, Span span);
  // How many buckets a script can name; hist may be null (reported).
  int64_t bucket_count(const PrintHist* hist) const;
  LocalId hidden_local(const char* name);

  // bind_print.cpp
  ExprPtr print_call(const ast::Call& c, Span span);
  ExprPtr print_values(bool printed, PrintNote note, std::vector<ExprPtr> args, Span span);
  ExprPtr formatted(const ast::Call& c, bool printed, Span span);
  void read_memory(std::vector<Conversion>& conversions, std::vector<ExprPtr>& args);
  ExprPtr histogram(const ast::At& a, Span at_span, Span span);
  bool histogram_bounds(const ast::At& a, Global& global);
  std::optional<uint8_t> histogram_bits(const ast::At& a);
  bool too_many_values(const std::vector<ExprPtr>& args);

  // bind_target.cpp
  std::optional<TargetView> view(const ast::Expr& e) const;
  ExprPtr target(const TargetView& t, Span span);
  ExprPtr pointer(const ast::Expr& e);
  bool target_allowed(const TargetView& t, Span span);
  // The probe's, or the functions', target that equals `wanted`, made on its first use.
  TargetId intern(TargetExpr wanted);
  // nullopt: reported. args may be null: element indexes are then not evaluated (@defined).
  std::optional<TargetId> intern_target(const TargetView& t, Span span, std::vector<ExprPtr>* args);

  // bind_defined.cpp
  ExprPtr defined(const ast::At& a, Span span);
  ExprPtr choose_defined(const ast::At& a, Span span);
  // Whether all target expressions in `e` have values; null: there are none in it.
  ExprPtr all_defined(const ast::Expr& e, Span span);
  ExprPtr is_defined(const TargetView& wanted, Span wanted_span, Span span);
  ExprPtr register_defined(const ast::Call& c, Span call_span, Span span);

  // bind_entry.cpp
  ExprPtr entry_value(const ast::At& a, Span span);
  ExprPtr exit_value(const ast::At& a, Span span);
  bool only_at_return(const std::string& op, Span span);
  ExprPtr at_entry(const ast::Expr& e);
  ExprPtr call_at_entry(const ast::Call& c, Span span);
  const ast::Expr* short_function(const ast::Call& c) const;

  // bind_register.cpp
  ExprPtr register_call(const ast::Call& c, Span span);
  void pass_registers(const std::string& name, Span span, std::vector<ExprPtr>& args);
  ExprPtr print_registers(const ast::Call& c, Span span);

  template <typename Node>
  ExprPtr make(Node node, Span span, Type type = Type::Unknown) {
    return std::make_unique<Expr>(Expr{type, span, std::move(node)});
  }
  template <typename Node>
  StmtPtr make_stmt(Node node, Span span) {
    return std::make_unique<Stmt>(Stmt{span, std::move(node)});
  }
  // Stands for an expression whose mistake was reported.
  ExprPtr poison(Span span);
  // The local of this name, made on its first use.
  LocalId local(const std::string& name);

  Program& program_;
  Notes& notes_;
  Diags& diags_;
  Frame& frame_;
  const PointerTypes* pointers_;
  Probe* probe_;
  const ast::Probe* source_;
  std::unordered_map<std::string, LocalId> locals_;
  // Calls whose statements are being bound in a probe, innermost last; how many there were in all.
  std::vector<Inlined> inlined_;
  size_t inlined_calls_ = 0;
  std::unordered_set<std::string> defined_;  // $names that this probe asks @defined of
  std::vector<std::string> entry_calls_;     // functions whose value at the entry is being bound
  int loops_ = 0;
  // In a function: its `next`, and its arguments as they came.
  std::optional<FunctionId> next_;
  std::vector<LocalId> arguments_;
};

// The names of all functions that read target variables, or call one that does.
std::unordered_set<std::string> functions_of_probes(const ast::Script& script);

// Once all bodies are bound: an aggregate and what it is a snapshot of keep the same histograms.
void share_snapshot_shapes(Program& program, const Notes& notes, Diags& diags);

// register, uint_arg, pointer_arg ...: raw values of the probed place, without debug info.
bool is_register_name(std::string_view name);
std::vector<std::string> register_names();

// printf, print, println ...: callable without being functions.
// The row of stdlib/builtins.def; nullopt: no built-in has this name.
std::optional<BuiltinId> find_builtin(std::string_view name);
// The point is where a function returns: it ends in .return.
bool is_return_point(const ast::ProbePoint& point);
bool is_print_name(std::string_view name);
std::vector<std::string> print_names();

}  // namespace dj
