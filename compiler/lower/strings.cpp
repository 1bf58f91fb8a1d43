// Strings: constants of the session, interned ones, those in scratch memory.
#include "compiler/lower/strings.h"

#include "compiler/lower/operators.h"

namespace dj::ir {

using ast::BinOp;

Value literal(Code& code, const std::string& text) {
  llvm::LoadInst* word = code.load(code.unit.address(code.unit.constant_word(text)));
  // Written before the first handler runs, never again.
  word->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(code.unit.context, {}));
  return {word, true};
}

Value intern(Code& code, Value string) {
  if (string.interned) return string;
  llvm::Value* one = code.call("dj_intern", {code.as_pointer(string.word)});
  return {code.b.CreatePtrToInt(one, code.unit.word), true};
}

Value or_empty(Code& code, llvm::Value* word) {
  llvm::Value* empty = literal(code, "").word;
  return {code.b.CreateSelect(code.b.CreateICmpEQ(word, code.number(0)), empty, word), true};
}

Value concat(Code& code, Value left, Value right) {
  llvm::Value* joined = code.call(
      "dj_str_concat", {code.context(), code.as_pointer(left.word), code.as_pointer(right.word)});
  return {code.b.CreatePtrToInt(joined, code.unit.word)};
}

llvm::Value* compare_strings(Code& code, BinOp op, Value left, Value right) {
  llvm::Value *a = code.as_pointer(left.word), *b = code.as_pointer(right.word);
  if (op == BinOp::Eq || op == BinOp::Ne) {
    if (left.interned && right.interned) return compare(code, op, left.word, right.word);
    llvm::Value* equal = code.call("dj_str_equal", {a, b});
    return op == BinOp::Eq ? code.b.CreateICmpNE(equal, code.number32(0))
                           : code.b.CreateICmpEQ(equal, code.number32(0));
  }
  return compare(code, op, code.call("dj_str_compare", {a, b}), code.number(0));
}

}  // namespace dj::ir
