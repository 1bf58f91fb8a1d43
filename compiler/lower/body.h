// Body: lowering of one body (a handler's or a script function's) to LLVM instructions. One method
// per node; the families are in expressions, operators, places, statements, loops, print, calls and
// locations.cpp. Evaluation is strictly left to right.
#pragma once
#include <functional>
#include <map>

#include "compiler/lower/unit.h"

namespace dj::ir {

// A script value in registers: a 64-bit int, or the address of a Str.
struct Value {
  llvm::Value* word = nullptr;
  bool interned = false;  // a Str whose address is the only one of its text
};

// What the site gives a handler.
struct Machine {
  llvm::Value* regs[16] = {};    // by DWARF number, null: not passed
  llvm::Value* rsp = nullptr;    // at the probed instruction
  llvm::Value* flags = nullptr;  // there, or null: not passed
  llvm::Value* entry = nullptr;  // array of entry values (PushEntry), or null
};

class Body {
 public:
  // context: null when the body needs none. A new function's entry block becomes the place of all
  // slots.
  Body(Unit& unit, llvm::Function* function, llvm::Value* context, llvm::Value* site,
       const Frame& frame);

  llvm::IRBuilder<>& builder() { return b_; }
  llvm::BasicBlock* exit() { return exit_; }
  void set_machine(const Handler* handler, Machine machine);
  void set_context(llvm::Value* context) { context_ = context; }
  void set_result(llvm::AllocaInst* result) { result_ = result; }
  void set_site(llvm::Value* site) { site_ = site; }
  llvm::Value* site() { return site_; }
  llvm::AllocaInst* local(LocalId id) { return locals_[id]; }
  // An uninitialised stack slot of `count` words, alive for the whole function.
  llvm::AllocaInst* slot(llvm::Type* type, const char* name, uint32_t count = 1);

  void reset(LocalId id);  // to 0 or ""
  void statement(const Stmt& stmt);
  llvm::Value* location(const LocExpr& location, const std::vector<llvm::Value*>& args, Span span);
  // As location(), but where a read fails *bad (32 bits) becomes 1 instead of an error.
  llvm::Value* lenient(const LocExpr& where, const std::vector<llvm::Value*>& args,
                       llvm::Value* bad, Span span);
  // Raises a script error when condition (i1) is true: the body goes on in the catch, or ends.
  void fail_if(llvm::Value* condition, Span span, uint32_t kind, llvm::Value* a);
  // The same where the error was raised already.
  void leave_if(llvm::Value* condition);
  void leave_if_raised();
  llvm::Value* context_field(size_t offset);  // address of a field of abi::Context
  // Where a script error goes on.
  llvm::BasicBlock* error_exit() { return catches_.empty() ? exit_ : catches_.back(); }
  // Ends the current block with a jump to the exit; what follows is unreachable.
  void jump(llvm::BasicBlock* to);
  // First error met (a form that is not built yet); the rest of the code is then worthless.
  const std::string& failure() const { return failure_; }

 private:
  // expressions.cpp
  Value expression(const Expr& expr);
  llvm::Value* number(const Expr& expr) { return expression(expr).word; }
  llvm::Value* condition(const Expr& expr);  // as i1
  Value literal(const std::string& text);
  Value logical(const Binary& node);
  Value visit(const Expr& expr, const IntLit& node);
  Value visit(const Expr& expr, const StrLit& node);
  Value visit(const Expr& expr, const LocalRef& node);
  Value visit(const Expr& expr, const GlobalRef& node);
  Value visit(const Expr& expr, const ElementRef& node);
  Value visit(const Expr& expr, const Unary& node);
  Value visit(const Expr& expr, const Binary& node);
  Value visit(const Expr& expr, const Ternary& node);
  Value visit(const Expr& expr, const Assign& node);
  Value visit(const Expr& expr, const Crement& node);
  Value visit(const Expr& expr, const CallFunction& node);
  Value visit(const Expr& expr, const Inlined& node);
  Value visit(const Expr& expr, const CallBuiltin& node);
  Value visit(const Expr& expr, const InArray& node);
  Value visit(const Expr& expr, const StatRead& node);
  Value visit(const Expr& expr, const TargetRef& node);
  Value visit(const Expr& expr, const Defined& node);
  Value visit(const Expr& expr, const Print& node);
  Value visit(const Expr& expr, const PrintHist& node);
  Value visit(const Expr& expr, const HistBucket& node);
  Value visit(const Expr& expr, const Match& node);
  Value visit(const Expr& expr, const Take& node);  // snapshot.cpp
  Value visit(const Expr& expr, const Caught& node);

  // doubles.cpp: their bits, never in a vector register
  Value visit(const Expr& expr, const DoubleLit& node);
  Value visit(const Expr& expr, const ToDouble& node);
  llvm::Value* double_constant(double value);
  llvm::Value* double_of_int(llvm::Value* number);
  llvm::Value* compute_doubles(ast::BinOp op, llvm::Value* left, llvm::Value* right);
  llvm::Value* compare_doubles(ast::BinOp op, llvm::Value* left, llvm::Value* right);
  llvm::Value* double_key(llvm::Value* word);
  const TargetPlan& target_plan(TargetId id) const;
  bool is_double(LocalId local) const { return frame_.locals[local].type == Type::Double; }
  Value update_double(const GlobalSlot& slot, ast::BinOp op, llvm::Value* operand, bool want_old);

  // operators.cpp
  llvm::Value* arithmetic(ast::BinOp op, llvm::Value* left, llvm::Value* right, Span span);
  llvm::Value* divide(bool remainder, llvm::Value* left, llvm::Value* right, Span span);
  llvm::Value* compare(ast::BinOp op, llvm::Value* left, llvm::Value* right);
  llvm::Value* compare_strings(ast::BinOp op, Value left, Value right);
  Value concat(Value left, Value right);
  Value intern(Value string);
  Value or_empty(llvm::Value* word);  // an interned Str or 0, as a Str
  llvm::Value* as_pointer(llvm::Value* word) { return b_.CreateIntToPtr(word, unit_.pointer); }

  // places.cpp: where an assignment goes
  Value assign_local(const Assign& node, LocalId local, Span span);
  Value assign_global(const Assign& node, GlobalId global, Span span);
  Value assign_element(const Assign& node, const ElementRef& element, Span span);
  Value update_scalar(const GlobalSlot& slot, ast::BinOp op, llvm::Value* operand, Span span,
                      bool want_old);
  // Reads, computes and writes, again where somebody was faster.
  Value update_in_loop(const GlobalSlot& slot, bool want_old,
                       const std::function<llvm::Value*(llvm::Value*)>& compute);
  Value append_scalar(const GlobalSlot& slot, Value tail);
  Value update_element(const ElementRef& element, llvm::Value* keys, ast::BinOp op,
                       llvm::Value* operand, bool want_old);
  Value crement_local(const Crement& node, LocalId local);
  llvm::Value* load_scalar(const GlobalSlot& slot);
  void store_scalar(const GlobalSlot& slot, llvm::Value* word);
  llvm::Value* keys(const std::vector<ExprPtr>& keys);  // the word of a '*' is 0
  // Bit i: key i is given. Of a slice some are not.
  llvm::Value* given_keys(const std::vector<ExprPtr>& keys);
  llvm::Constant* map(GlobalId array) { return unit_.address(unit_.layout.globals[array].address); }

  // statements.cpp
  void visit(const Stmt& stmt, const Block& node);
  void visit(const Stmt& stmt, const ExprStmt& node);
  void visit(const Stmt& stmt, const StatAdd& node);
  void visit(const Stmt& stmt, const If& node);
  void visit(const Stmt& stmt, const Loop& node);
  void visit(const Stmt& stmt, const Foreach& node);
  void visit(const Stmt& stmt, const Break& node);
  void visit(const Stmt& stmt, const Continue& node);
  void visit(const Stmt& stmt, const Next& node);
  void visit(const Stmt& stmt, const Return& node);
  void visit(const Stmt& stmt, const DeleteElement& node);
  void visit(const Stmt& stmt, const DeleteGlobal& node);
  void visit(const Stmt& stmt, const Try& node);
  void visit(const Stmt& stmt, const Snapshot& node);  // snapshot.cpp
  llvm::Value* take_global(GlobalId id);
  // Before a jump out of all but the outer `kept` try blocks of this body.
  void leave_tries(size_t kept);
  void back_edge(llvm::BasicBlock* to);
  void foreach_bind(const Foreach& node, llvm::Value* keys, llvm::Value* value);

  // print.cpp
  llvm::Value* argument_array(const std::vector<llvm::Value*>& words);
  Value format_string(const std::string& format, const std::vector<llvm::Value*>& words);

  // target_text.cpp
  class TextParts;
  Value target_text(const TargetText& text, const std::vector<llvm::Value*>& args, Span span);

  // stats.cpp
  struct StatRows {
    llvm::Value *rows, *stride, *shape;
  };
  StatRows stat_rows(const Expr& place);  // rows is null where an element is absent
  llvm::Value* stat_value(const StatRead& node, llvm::Value* empty);

  // calls.cpp
  void note_call(Span span);
  Value call_builtin(const Builtin& row, const CallBuiltin& node);

  // location_jumps.cpp
  struct Ways;  // what the labels of one location are
  void come_to(size_t label, Ways& ways, const std::vector<llvm::Value*>& stack);
  void count_round(Ways& ways, Span span);
  void location_jump(const std::vector<LocStep>& steps, size_t at, Ways& ways,
                     std::vector<llvm::Value*>& stack, Span span);
  llvm::Value* location_with_jumps(const LocExpr& location, const std::vector<llvm::Value*>& args,
                                   Span span);

  // wide_numbers.cpp
  llvm::Value* convert_number(const LocStep& step, llvm::Value* number);
  llvm::Value* compare_wide(LocStep::Op op, NumberForm form, llvm::Value* left, llvm::Value* right);
  llvm::Value* wide_step(const LocStep& step, llvm::Value* left, llvm::Value* right, Span span);

  // locations.cpp
  // Changes the stack as the step says; no label or jump.
  void location_step(const LocStep& step, std::vector<llvm::Value*>& stack,
                     const std::vector<llvm::Value*>& args, Span span);
  llvm::Value* unary_step(const LocStep& step, llvm::Value* operand, Span span);
  llvm::Value* binary_step(const LocStep& step, llvm::Value* left, llvm::Value* right, Span span);
  llvm::Value* location_push(const LocStep& step, const std::vector<llvm::Value*>& args);
  llvm::Value* stack_read(llvm::Value* address, const LocStep& step);
  llvm::Value* unsigned_step(LocStep::Op op, llvm::Value* left, llvm::Value* right, Span span);
  llvm::Value* register_value(int64_t reg, int64_t word);  // LocStep::PushReg
  llvm::Value* wide_register(int64_t reg, int64_t word);
  llvm::Value* vector_value(int64_t number);
  llvm::Value* mask_value(int64_t number);
  llvm::Value* selector_value(int64_t reg);
  void note_unread_entry(int64_t slot);
  llvm::Value* checked_read(llvm::Value* address, const LocStep& step, Span span);
  llvm::Value* extend(llvm::Value* word, int64_t bits, bool is_signed);
  llvm::Value* site_bias();

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(unit_.context, name, function_);
  }
  void fail(std::string message);

  Unit& unit_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* entry_;
  llvm::BasicBlock* exit_;
  llvm::Value* context_;
  llvm::Value* site_;
  llvm::AllocaInst* result_ = nullptr;  // of a script function
  const Handler* handler_ = nullptr;    // null in script functions
  Machine machine_;
  llvm::Value* lenient_ = nullptr;  // where failed reads are noted instead of raised; null: raise
  std::map<int64_t, llvm::Value*> kept_registers_;  // see wide_register()
  const Frame& frame_;
  std::vector<llvm::AllocaInst*> locals_;
  struct LoopBlocks {
    llvm::BasicBlock *next, *done;
    size_t tries;  // open where the loop begins
  };
  std::vector<LoopBlocks> loops_;
  struct InlinedEnd {
    llvm::BasicBlock* done;
    size_t tries;  // open where its statements begin
  };
  std::vector<InlinedEnd> inlined_;  // functions whose statements are being lowered, innermost last
  std::vector<llvm::BasicBlock*> catches_;  // of the try blocks that are open, innermost last
  std::string failure_;
};

}  // namespace dj::ir
