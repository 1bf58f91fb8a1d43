// SPDX-License-Identifier: Apache-2.0
// Loops. Every back edge costs an action (MAXACTION), so that every handler ends.
#include "compiler/lower/doubles.h"
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "compiler/lower/strings.h"

namespace dj::ir {

namespace {

abi::SortOrder order_of(const Foreach& node, const Global& array) {
  using Sort = Foreach::Sort;
  const bool by_key = node.sort == Sort::Key;
  const Type type = by_key                     ? array.keys[node.sort_key]
                    : node.sort == Sort::Value ? array.value
                                               : Type::Int;
  const uint32_t of_type = type == Type::Str      ? uint32_t{abi::kSortText}
                           : type == Type::Double ? uint32_t{abi::kSortDouble}
                                                  : 0;
  const uint32_t argument = by_key                    ? node.sort_key
                            : node.sort == Sort::Stat ? static_cast<uint32_t>(node.sort_stat)
                                                      : 0;
  return {static_cast<uint32_t>(node.sort) | of_type, argument, node.descending};
}

llvm::Constant* constant(Code& code, const abi::SortOrder& order) {
  llvm::Constant* fields[] = {code.number32(order.by), code.number32(order.argument),
                              code.number32(order.descending)};
  static_assert(sizeof order == sizeof(uint32_t) * std::size(fields));
  return code.unit.constant(fields, "order");
}

// How many rounds at most: none at all when it is negative, -1 for all.
llvm::Value* limit_of(Body& body, const Foreach& node) {
  Code& code = body.code();
  if (!node.limit) return code.number(-1);
  llvm::Value* asked = body.number(*node.limit);
  return code.b.CreateSelect(code.b.CreateICmpSLT(asked, code.number(0)), code.number(0), asked);
}

// The loop's variables get the keys, and the value, of the element.
void bind_element(Body& body, const Foreach& node, llvm::Value* keys, llvm::Value* value) {
  Code& code = body.code();
  const Global& array = code.unit.program.globals[node.array];
  for (size_t i = 0; i < node.keys.size(); ++i) {
    llvm::Value* at = code.b.CreateConstInBoundsGEP1_64(code.unit.word, keys, i);
    llvm::Value* word = code.load(at);
    if (array.keys[i] == Type::Int && body.is_double(node.keys[i]))
      word = double_of_int(code, word);
    if (array.keys[i] == Type::Str) word = from_ref(code, word).word;
    code.b.CreateStore(word, body.local(node.keys[i]));
  }
  if (!node.value) return;
  llvm::Value* word = code.load(value);
  if (array.value == Type::Int && body.is_double(*node.value)) word = double_of_int(code, word);
  code.b.CreateStore(array.value == Type::Str ? from_ref(code, word).word : word,
                     body.local(*node.value));
}

}  // namespace

void lower_node(Body& body, const Stmt&, const Loop& node) {
  Code& code = body.code();
  llvm::BasicBlock *head = code.block("loop"), *inside = code.block("do"),
                   *next = code.block("next"), *done = code.block("done");
  code.b.CreateBr(head);
  code.b.SetInsertPoint(head);
  if (node.condition) {
    code.b.CreateCondBr(body.condition(*node.condition), inside, done);
  } else {
    code.b.CreateBr(inside);
  }
  code.b.SetInsertPoint(inside);
  body.loop_body(node.body.get(), next, done);
  code.b.CreateBr(next);
  code.b.SetInsertPoint(next);
  if (node.step) body.expression(*node.step);
  code.back_edge(head);
  code.b.SetInsertPoint(done);
}

void lower_node(Body& body, const Stmt&, const Foreach& node) {
  Code& code = body.code();
  const abi::SortOrder order = order_of(node, code.unit.program.globals[node.array]);
  llvm::Value* slice = keys(body, node.slice);
  llvm::Value* limit = limit_of(body, node);
  llvm::Value* iterators = code.context_field(offsetof(abi::Context, iterators));
  llvm::Value* iterators_before = code.load32(iterators);
  llvm::Value* iterator =
      code.call("dj_foreach_begin", {code.context(), map(code, node.array), constant(code, order),
                                     limit, slice, given_keys(code, node.slice)});
  code.leave_if(code.b.CreateIsNull(iterator));
  size_t key_count = code.unit.program.globals[node.array].keys.size();
  llvm::AllocaInst* keys = code.slot(code.unit.word, "keys", static_cast<uint32_t>(key_count));
  llvm::AllocaInst* value = code.slot(code.unit.word, "value");
  llvm::BasicBlock *head = code.block("each"), *inside = code.block("do"),
                   *next = code.block("next"), *done = code.block("done");
  code.b.CreateBr(head);
  code.b.SetInsertPoint(head);
  llvm::Value* more = code.call("dj_foreach_next", {iterator, keys, value});
  code.b.CreateCondBr(code.b.CreateICmpNE(more, code.number32(0)), inside, done);
  code.b.SetInsertPoint(inside);
  bind_element(body, node, keys, value);
  body.loop_body(node.body.get(), next, done);
  code.b.CreateBr(next);
  code.b.SetInsertPoint(next);
  code.back_edge(head);
  code.b.SetInsertPoint(done);
  code.b.CreateStore(iterators_before, iterators);  // also after a break
}

void lower_node(Body& body, const Stmt&, const Break&) {
  Code& code = body.code();
  code.leave_tries(body.loop().tries);
  code.jump(body.loop().done);
}

void lower_node(Body& body, const Stmt&, const Continue&) {
  Code& code = body.code();
  code.leave_tries(body.loop().tries);
  code.jump(body.loop().next);
}

}  // namespace dj::ir
