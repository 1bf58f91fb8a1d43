// Statements and loops. Every back edge costs an action (MAXACTION), so that every handler ends.
#include "compiler/lower/body.h"

namespace dj::ir {

void Body::statement(const Stmt& stmt) {
  std::visit([&](const auto& node) { visit(stmt, node); }, stmt.node);
}

void Body::visit(const Stmt&, const Block& node) {
  for (const StmtPtr& stmt : node.body) statement(*stmt);
}

void Body::visit(const Stmt&, const ExprStmt& node) { expression(*node.expr); }

void Body::visit(const Stmt&, const StatAdd& node) {
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* where = keys(element->keys);
    llvm::Value* sample = number(*node.value);
    b_.CreateCall(unit_.entry("dj_map_stat_add"), {map(element->array), where, sample});
    return;
  }
  const GlobalSlot& slot = unit_.layout.globals[std::get<GlobalRef>(node.place->node).global];
  llvm::Value* sample = number(*node.value);
  b_.CreateCall(unit_.entry("dj_stat_add"),
                {unit_.address(slot.address), unit_.number32(slot.stride),
                 unit_.address(slot.shape_address), sample});
}

void Body::visit(const Stmt&, const If& node) {
  llvm::Value* chosen = condition(*node.condition);
  llvm::BasicBlock *then = block("then"), *otherwise = block("else"), *end = block("fi");
  b_.CreateCondBr(chosen, then, otherwise);
  b_.SetInsertPoint(then);
  statement(*node.then);
  b_.CreateBr(end);
  b_.SetInsertPoint(otherwise);
  if (node.otherwise) statement(*node.otherwise);
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
}

void Body::back_edge(llvm::BasicBlock* to) {
  CHECK(context_);
  llvm::Value* more = b_.CreateCall(unit_.entry("dj_action"), {context_});
  leave_if(b_.CreateICmpEQ(more, unit_.number32(0)));
  b_.CreateBr(to);
}

void Body::visit(const Stmt&, const Loop& node) {
  llvm::BasicBlock *head = block("loop"), *body = block("do"), *next = block("next"),
                   *done = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  if (node.condition) {
    b_.CreateCondBr(condition(*node.condition), body, done);
  } else {
    b_.CreateBr(body);
  }
  b_.SetInsertPoint(body);
  loops_.push_back({next, done, catches_.size()});
  if (node.body) statement(*node.body);
  loops_.pop_back();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  if (node.step) expression(*node.step);
  back_edge(head);
  b_.SetInsertPoint(done);
}

void Body::visit(const Stmt&, const Foreach& node) {
  CHECK(context_);
  uint32_t argument = node.sort == Foreach::Sort::Key    ? node.sort_key
                      : node.sort == Foreach::Sort::Stat ? static_cast<uint32_t>(node.sort_stat)
                                                         : 0;
  const Global& sorted = unit_.program.globals[node.array];
  bool by_text = (node.sort == Foreach::Sort::Key && sorted.keys[node.sort_key] == Type::Str) ||
                 (node.sort == Foreach::Sort::Value && sorted.value == Type::Str);
  bool by_double =
      (node.sort == Foreach::Sort::Key && sorted.keys[node.sort_key] == Type::Double) ||
      (node.sort == Foreach::Sort::Value && sorted.value == Type::Double);
  uint32_t sort = static_cast<uint32_t>(node.sort) | (by_text ? uint32_t{abi::kSortText} : 0) |
                  (by_double ? uint32_t{abi::kSortDouble} : 0);
  llvm::Value* slice = keys(node.slice);
  llvm::Value* limit = unit_.number(-1);
  if (node.limit) {  // none at all when it is negative
    llvm::Value* asked = number(*node.limit);
    limit = b_.CreateSelect(b_.CreateICmpSLT(asked, unit_.number(0)), unit_.number(0), asked);
  }
  llvm::Value* iterators = context_field(offsetof(abi::Context, iterators));
  llvm::Value* iterators_before = b_.CreateLoad(unit_.half, iterators);
  llvm::Value* iterator =
      b_.CreateCall(unit_.entry("dj_foreach_begin"),
                    {context_, map(node.array), unit_.number32(sort), unit_.number32(argument),
                     unit_.number32(node.descending), limit, slice, given_keys(node.slice)});
  leave_if(b_.CreateIsNull(iterator));
  size_t key_count = unit_.program.globals[node.array].keys.size();
  llvm::AllocaInst* keys = slot(unit_.word, "keys", static_cast<uint32_t>(key_count));
  llvm::AllocaInst* value = slot(unit_.word, "value");
  llvm::BasicBlock *head = block("each"), *body = block("do"), *next = block("next"),
                   *done = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::Value* more = b_.CreateCall(unit_.entry("dj_foreach_next"), {iterator, keys, value});
  b_.CreateCondBr(b_.CreateICmpNE(more, unit_.number32(0)), body, done);
  b_.SetInsertPoint(body);
  foreach_bind(node, keys, value);
  loops_.push_back({next, done, catches_.size()});
  if (node.body) statement(*node.body);
  loops_.pop_back();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  back_edge(head);
  b_.SetInsertPoint(done);
  b_.CreateStore(iterators_before, iterators);  // also after a break
}

void Body::foreach_bind(const Foreach& node, llvm::Value* keys, llvm::Value* value) {
  const Global& array = unit_.program.globals[node.array];
  for (size_t i = 0; i < node.keys.size(); ++i) {
    llvm::Value* at = b_.CreateConstInBoundsGEP1_64(unit_.word, keys, i);
    llvm::Value* word = b_.CreateLoad(unit_.word, at);
    if (array.keys[i] == Type::Int && is_double(node.keys[i])) word = double_of_int(word);
    b_.CreateStore(word, locals_[node.keys[i]]);
  }
  if (!node.value) return;
  llvm::Value* word = b_.CreateLoad(unit_.word, value);
  if (array.value == Type::Int && is_double(*node.value)) word = double_of_int(word);
  b_.CreateStore(array.value == Type::Str ? or_empty(word).word : word, locals_[*node.value]);
}

void Body::visit(const Stmt&, const Break&) {
  leave_tries(loops_.back().tries);
  jump(loops_.back().done);
}

void Body::visit(const Stmt&, const Continue&) {
  leave_tries(loops_.back().tries);
  jump(loops_.back().next);
}

void Body::visit(const Stmt&, const Next&) {
  leave_tries(0);
  jump(exit_);
}

void Body::visit(const Stmt&, const Return& node) {
  if (!inlined_.empty()) {
    leave_tries(inlined_.back().tries);
    return jump(inlined_.back().done);
  }
  if (node.value) {
    llvm::Value* word = number(*node.value);
    if (result_) b_.CreateStore(word, result_);
  }
  leave_tries(0);
  jump(exit_);
}

void Body::visit(const Stmt&, const DeleteElement& node) {
  const auto& element = std::get<ElementRef>(node.element->node);
  if (is_slice(element.keys)) {
    llvm::Value* where = keys(element.keys);
    b_.CreateCall(unit_.entry("dj_slice_delete"),
                  {map(element.array), where, given_keys(element.keys)});
    return;
  }
  b_.CreateCall(unit_.entry("dj_map_delete"), {map(element.array), keys(element.keys)});
}

void Body::visit(const Stmt&, const DeleteGlobal& node) {
  const Global& global = unit_.program.globals[node.global];
  const GlobalSlot& slot = unit_.layout.globals[node.global];
  switch (global.storage) {
    case Storage::Counter:
      b_.CreateCall(unit_.entry("dj_count_clear"), {unit_.number32(slot.counter)});
      break;
    case Storage::Scalar:
      store_scalar(slot, unit_.number(0));
      break;  // for a string 0 reads as ""
    case Storage::Stats:
      b_.CreateCall(unit_.entry("dj_stat_clear"),
                    {unit_.address(slot.address), unit_.number32(slot.stride),
                     unit_.address(slot.shape_address)});
      break;
    case Storage::Array:
      b_.CreateCall(unit_.entry("dj_map_clear"), {map(node.global)});
      break;
  }
}

}  // namespace dj::ir
