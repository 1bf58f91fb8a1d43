// SPDX-License-Identifier: Apache-2.0
// Strings: constants of the session, interned ones, those in scratch memory; references to them.
#include "compiler/lower/strings.h"

#include "compiler/lower/operators.h"

namespace dj::ir {

using ast::BinOp;

namespace {

llvm::Value* at_offset(Code& code, llvm::Value* offset, uint64_t more = 0) {
  return code.b.CreateAdd(offset, code.number(static_cast<int64_t>(code.unit.layout.base + more)));
}

}  // namespace

Value literal(Code& code, const std::string& text) {
  llvm::LoadInst* ref = code.load32(code.unit.address(code.unit.constant_ref(text)));
  // Written before the first handler runs, never again; by djtap alone.
  ref->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(code.unit.context, {}));
  return {at_offset(code, code.b.CreateZExt(ref, code.unit.word)), true};
}

Value intern(Code& code, Value string) {
  if (string.interned) return string;
  llvm::Value* one = code.call("dj_intern", {code.as_pointer(string.word)});
  return {code.b.CreatePtrToInt(one, code.unit.word), true};
}

Value from_ref(Code& code, llvm::Value* word) {
  const abi::RefRange range = code.unit.layout.refs;
  const auto number = [&code](uint64_t value) { return code.number(static_cast<int64_t>(value)); };
  llvm::Value* offset = code.b.CreateSub(word, number(range.first));
  llvm::Value* inside = code.b.CreateICmpULT(offset, number(range.span));
  llvm::Value* safe = code.b.CreateSelect(inside, offset, code.number(0));
  return {at_offset(code, safe, range.first), true};
}

llvm::Value* to_ref(Code& code, Value string) {
  llvm::Value* base = code.number(static_cast<int64_t>(code.unit.layout.base));
  return code.b.CreateSub(intern(code, string).word, base);
}

Value or_empty(Code& code, llvm::Value* address) {
  llvm::Value* empty = literal(code, "").word;
  return {code.b.CreateSelect(code.b.CreateICmpEQ(address, code.number(0)), empty, address), true};
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
