// Calls: script functions and built-ins (rows of stdlib/builtins.def; no built-in is known by name
// here).
#include "compiler/lower/body.h"

namespace dj::ir {

// For the people who read of an error: where the functions were called that it is inside of.
void Body::note_call(Span span) {
  llvm::Value* left =
      b_.CreateLoad(unit_.half, context_field(offsetof(abi::Context, nesting_left)));
  llvm::Value* at = b_.CreateAnd(left, unit_.number32(abi::kMaxShownCalls - 1));
  llvm::Value* slot =
      b_.CreateInBoundsGEP(unit_.half, context_field(offsetof(abi::Context, calls)), at);
  b_.CreateStore(unit_.number32(unit_.span_index(span)), slot);
}

Value Body::visit(const Expr& expr, const CallFunction& node) {
  CHECK(context_);
  std::vector<llvm::Value*> args{context_, site_};
  for (const ExprPtr& arg : node.args) args.push_back(number(*arg));
  note_call(expr.span);
  llvm::Value* result = b_.CreateCall(unit_.functions[node.function], args);
  leave_if_raised();
  return {result};
}

Value Body::visit(const Expr&, const Inlined& node) {
  for (LocalId id = node.first; id < node.end; ++id) reset(id);
  llvm::Value* iterators = context_ ? context_field(offsetof(abi::Context, iterators)) : nullptr;
  llvm::Value* before = context_ ? b_.CreateLoad(unit_.half, iterators) : nullptr;
  llvm::BasicBlock* done = block("returned");
  inlined_.push_back({done, catches_.size()});
  statement(*node.body);
  inlined_.pop_back();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  if (context_) b_.CreateStore(before, iterators);  // a return may leave loops over arrays
  return {b_.CreateLoad(unit_.word, locals_[node.result])};
}

Value Body::visit(const Expr& expr, const Match& node) {
  CHECK(context_);
  llvm::Value* text = as_pointer(number(*node.text));
  b_.CreateStore(unit_.number32(unit_.span_index(expr.span)),
                 context_field(offsetof(abi::Context, span)));
  llvm::Value* found =
      b_.CreateCall(unit_.entry("dj_match"), {context_, text, unit_.text(node.program)});
  leave_if_raised();
  return {node.negated ? b_.CreateXor(found, unit_.number(1)) : found};
}

// signature: "str(int,int?)": result, then parameters; an absent optional int is 0.
Value Body::visit(const Expr& expr, const CallBuiltin& node) {
  const Builtin& row = builtins()[node.builtin];
  std::string_view signature = row.signature;
  size_t open = signature.find('(');
  std::string_view result = signature.substr(0, open);
  std::string_view parameters = signature.substr(open + 1, signature.find(')') - open - 1);
  std::string kinds;
  std::vector<llvm::Value*> args;
  if (row.flags & kSite) {
    kinds += 'i';
    args.push_back(site_);
  }
  if (row.flags & kCtx) {
    CHECK(context_);
    kinds += 'p';
    args.push_back(context_);
  }
  for (size_t i = 0; !parameters.empty(); ++i) {
    size_t comma = std::min(parameters.find(','), parameters.size());
    bool is_string = parameters.substr(0, 3) == "str";
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    kinds += is_string ? 'p' : 'l';
    llvm::Value* word = i < node.args.size() ? number(*node.args[i]) : unit_.number(0);
    args.push_back(is_string ? as_pointer(word) : word);
  }
  if (row.flags & kRaises) {
    b_.CreateStore(unit_.number32(unit_.span_index(expr.span)),
                   context_field(offsetof(abi::Context, span)));
  }
  bool returns_string = result == "str", returns_void = result == "void";
  llvm::Value* value = b_.CreateCall(unit_.builtin(row, kinds, returns_string, returns_void), args);
  if (row.flags & kRaises) leave_if_raised();
  if (returns_void) return {unit_.number(0)};
  if (!returns_string) return {value};
  llvm::Value* word = b_.CreatePtrToInt(value, unit_.word);
  // A string that takes no scratch memory existed before: it is one of the session's interned ones.
  return row.flags & kCtx ? Value{word} : or_empty(word);
}

}  // namespace dj::ir
