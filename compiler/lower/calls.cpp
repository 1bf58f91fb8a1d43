// SPDX-License-Identifier: Apache-2.0
// Calls: script functions and built-ins (rows of stdlib/builtins.def; no built-in is known by name
// here).
#include "compiler/lower/nodes.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

namespace {

// For the people who read of an error: where the functions were called that it is inside of.
void note_call(Code& code, Span span) {
  llvm::Value* left = code.load32(code.context_field(offsetof(abi::Context, nesting_left)));
  llvm::Value* at = code.b.CreateAnd(left, code.number32(abi::kMaxShownCalls - 1));
  llvm::Value* slot = code.b.CreateInBoundsGEP(
      code.unit.half, code.context_field(offsetof(abi::Context, calls)), at);
  code.b.CreateStore(code.number32(code.unit.span_index(span)), slot);
}

}  // namespace

Value lower_node(Body& body, const Expr& expr, const CallFunction& node) {
  Code& code = body.code();
  std::vector<llvm::Value*> args{code.context(), code.site()};
  for (const ExprPtr& arg : node.args) args.push_back(body.number(*arg));
  note_call(code, expr.span);
  llvm::Value* result = code.b.CreateCall(code.unit.functions[node.function], args);
  code.leave_if_raised();
  return {result};
}

Value lower_node(Body& body, const Expr&, const Inlined& node) {
  Code& code = body.code();
  for (LocalId id = node.first; id < node.end; ++id) body.reset(id);
  const bool loops = code.has_context();  // over arrays; a return may leave them
  llvm::Value* iterators = loops ? code.context_field(offsetof(abi::Context, iterators)) : nullptr;
  llvm::Value* before = loops ? code.load32(iterators) : nullptr;
  llvm::BasicBlock* done = code.block("returned");
  body.function_body(*node.body, done);
  code.b.CreateBr(done);
  code.b.SetInsertPoint(done);
  if (loops) code.b.CreateStore(before, iterators);
  return {code.load(body.local(node.result))};
}

Value lower_node(Body& body, const Expr& expr, const Match& node) {
  Code& code = body.code();
  llvm::Value* text = code.as_pointer(body.number(*node.text));
  code.note_span(expr.span);
  llvm::Value* found = code.call("dj_match", {code.context(), text, code.unit.text(node.program)});
  code.leave_if_raised();
  return {node.negated ? code.b.CreateXor(found, code.number(1)) : found};
}

// signature: "str(int,int?)": result, then parameters; an absent optional int is 0.
Value lower_node(Body& body, const Expr& expr, const CallBuiltin& node) {
  Code& code = body.code();
  const Builtin& row = builtins()[node.builtin];
  std::string_view signature = row.signature;
  size_t open = signature.find('(');
  std::string_view result = signature.substr(0, open);
  std::string_view parameters = signature.substr(open + 1, signature.find(')') - open - 1);
  std::string kinds;
  std::vector<llvm::Value*> args;
  if (row.flags & kSite) {
    kinds += 'i';
    args.push_back(code.site());
  }
  if (row.flags & kCtx) {
    kinds += 'p';
    args.push_back(code.context());
  }
  for (size_t i = 0; !parameters.empty(); ++i) {
    size_t comma = std::min(parameters.find(','), parameters.size());
    bool is_string = parameters.substr(0, 3) == "str";
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    kinds += is_string ? 'p' : 'l';
    llvm::Value* word = i < node.args.size() ? body.number(*node.args[i]) : code.number(0);
    args.push_back(is_string ? code.as_pointer(word) : word);
  }
  if (row.flags & kRaises) code.note_span(expr.span);
  bool returns_string = result == "str", returns_void = result == "void";
  llvm::Value* value =
      code.b.CreateCall(code.unit.builtin(row, kinds, returns_string, returns_void), args);
  if (row.flags & kRaises) code.leave_if_raised();
  if (returns_void) return {code.number(0)};
  if (!returns_string) return {value};
  llvm::Value* word = code.b.CreatePtrToInt(value, code.unit.word);
  // A string that takes no scratch memory existed before: it is one of the session's interned ones.
  return row.flags & kCtx ? Value{word} : or_empty(code, word);
}

}  // namespace dj::ir
