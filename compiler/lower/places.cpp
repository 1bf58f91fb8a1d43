// Places: assignments to locals, globals and array elements. Each operation on a global is atomic
// by itself: a locked instruction, a compare-and-swap loop, or one agent entry.
#include "compiler/lower/body.h"
#include "runtime/shared/map.h"

namespace dj::ir {

using ast::BinOp;

namespace {

// The one-instruction form of op, or BAD_BINOP.
llvm::AtomicRMWInst::BinOp locked_form(BinOp op) {
  switch (op) {
    case BinOp::Add:
      return llvm::AtomicRMWInst::Add;
    case BinOp::Sub:
      return llvm::AtomicRMWInst::Sub;
    case BinOp::And:
      return llvm::AtomicRMWInst::And;
    case BinOp::Or:
      return llvm::AtomicRMWInst::Or;
    case BinOp::Xor:
      return llvm::AtomicRMWInst::Xor;
    default:
      return llvm::AtomicRMWInst::BAD_BINOP;
  }
}

}  // namespace

llvm::Value* Body::keys(const std::vector<ExprPtr>& keys) {
  std::vector<llvm::Value*> words;
  for (const ExprPtr& key : keys) {
    if (!key) {
      words.push_back(unit_.number(0));
      continue;
    }
    Value value = expression(*key);
    if (key->type == Type::Double) value.word = double_key(value.word);
    words.push_back(key->type == Type::Str ? intern(value).word : value.word);
  }
  return argument_array(words);
}

llvm::Value* Body::given_keys(const std::vector<ExprPtr>& keys) {
  uint32_t given = 0;
  for (size_t i = 0; i < keys.size(); ++i) given |= (keys[i] ? 1u : 0u) << i;
  return unit_.number32(given);
}

// Acquire and release cost nothing on x86 and keep a handler's stores in the script's order.
llvm::Value* Body::load_scalar(const GlobalSlot& slot) {
  llvm::LoadInst* load =
      b_.CreateAlignedLoad(unit_.word, unit_.address(slot.address), llvm::Align(8));
  load->setAtomic(llvm::AtomicOrdering::Acquire);
  return load;
}

void Body::store_scalar(const GlobalSlot& slot, llvm::Value* word) {
  llvm::StoreInst* store = b_.CreateAlignedStore(word, unit_.address(slot.address), llvm::Align(8));
  store->setAtomic(llvm::AtomicOrdering::Release);
}

Value Body::visit(const Expr& expr, const Assign& node) {
  if (const auto* local = std::get_if<LocalRef>(&node.place->node)) {
    return assign_local(node, local->local, expr.span);
  }
  if (const auto* global = std::get_if<GlobalRef>(&node.place->node)) {
    return assign_global(node, global->global, expr.span);
  }
  return assign_element(node, std::get<ElementRef>(node.place->node), expr.span);
}

Value Body::assign_local(const Assign& node, LocalId local, Span span) {
  Value value;
  if (node.op) {
    Value before{b_.CreateLoad(unit_.word, locals_[local])};
    Value operand = expression(*node.value);
    if (*node.op == BinOp::Concat) {
      value = concat(before, operand);
    } else if (node.place->type == Type::Double) {
      value = {compute_doubles(*node.op, before.word, operand.word)};
    } else {
      value = {arithmetic(*node.op, before.word, operand.word, span)};
    }
  } else {
    value = expression(*node.value);
  }
  b_.CreateStore(value.word, locals_[local]);
  return value;
}

Value Body::assign_global(const Assign& node, GlobalId id, Span span) {
  const Global& global = unit_.program.globals[id];
  const GlobalSlot& slot = unit_.layout.globals[id];
  Value value = expression(*node.value);
  if (global.storage == Storage::Counter) {
    CHECK(node.op == BinOp::Add || node.op == BinOp::Sub);
    llvm::Value* delta = *node.op == BinOp::Sub ? b_.CreateNeg(value.word) : value.word;
    b_.CreateCall(unit_.entry("dj_count_add"), {unit_.number32(slot.counter), delta});
    return value;  // never looked at: that makes it a counter
  }
  if (!node.op) {
    if (global.value == Type::Str) value = intern(value);
    store_scalar(slot, value.word);
    return value;
  }
  if (*node.op == BinOp::Concat) return append_scalar(slot, value);
  if (global.value == Type::Double) return update_double(slot, *node.op, value.word, false);
  return update_scalar(slot, *node.op, value.word, span, false);
}

Value Body::update_scalar(const GlobalSlot& slot, BinOp op, llvm::Value* operand, Span span,
                          bool want_old) {
  llvm::Constant* address = unit_.address(slot.address);
  auto form = locked_form(op);
  if (form != llvm::AtomicRMWInst::BAD_BINOP) {
    llvm::Value* old = b_.CreateAtomicRMW(form, address, operand, llvm::Align(8),
                                          llvm::AtomicOrdering::SequentiallyConsistent);
    return {want_old ? old : arithmetic(op, old, operand, span)};
  }
  return update_in_loop(slot, want_old,
                        [&](llvm::Value* old) { return arithmetic(op, old, operand, span); });
}

Value Body::update_in_loop(const GlobalSlot& slot, bool want_old,
                           const std::function<llvm::Value*(llvm::Value*)>& compute) {
  llvm::Constant* address = unit_.address(slot.address);
  llvm::Value* first = load_scalar(slot);
  llvm::BasicBlock *before = b_.GetInsertBlock(), *again = block("again"), *done = block("updated");
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  llvm::PHINode* old = b_.CreatePHI(unit_.word, 2);
  llvm::Value* fresh = compute(old);
  llvm::Value* swap = b_.CreateAtomicCmpXchg(address, old, fresh, llvm::Align(8),
                                             llvm::AtomicOrdering::SequentiallyConsistent,
                                             llvm::AtomicOrdering::SequentiallyConsistent);
  old->addIncoming(first, before);
  old->addIncoming(b_.CreateExtractValue(swap, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(swap, 1), done, again);
  b_.SetInsertPoint(done);
  return {want_old ? static_cast<llvm::Value*>(old) : fresh};
}

// global .= tail. Every attempt takes scratch memory, so each one counts as an action.
Value Body::append_scalar(const GlobalSlot& slot, Value tail) {
  llvm::BasicBlock *again = block("again"), *lost = block("lost"), *done = block("appended");
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  llvm::Value* old = load_scalar(slot);
  Value fresh = intern(concat(or_empty(old), tail));
  llvm::Value* swap = b_.CreateAtomicCmpXchg(
      unit_.address(slot.address), old, fresh.word, llvm::Align(8),
      llvm::AtomicOrdering::SequentiallyConsistent, llvm::AtomicOrdering::SequentiallyConsistent);
  b_.CreateCondBr(b_.CreateExtractValue(swap, 1), done, lost);
  b_.SetInsertPoint(lost);
  back_edge(again);
  b_.SetInsertPoint(done);
  return fresh;
}

Value Body::assign_element(const Assign& node, const ElementRef& element, Span span) {
  llvm::Value* where = keys(element.keys);
  Value value = expression(*node.value);
  const Type type = unit_.program.globals[element.array].value;
  if (node.op && *node.op == BinOp::Concat) {
    llvm::Value* old = b_.CreateCall(unit_.entry("dj_map_get"), {map(element.array), where});
    value = concat(or_empty(old), value);
  } else if (node.op) {
    if (type != Type::Double && (*node.op == BinOp::Div || *node.op == BinOp::Mod)) {
      fail_if(b_.CreateICmpEQ(value.word, unit_.number(0)), span, abi::kErrDivideByZero,
              unit_.number(0));
    }
    return update_element(element, where, *node.op, value.word, false);
  }
  if (type == Type::Str) value = intern(value);
  b_.CreateCall(unit_.entry("dj_map_set"), {map(element.array), where, value.word});
  return value;
}

Value Body::update_element(const ElementRef& element, llvm::Value* keys, BinOp op,
                           llvm::Value* operand, bool want_old) {
  llvm::AllocaInst* old = slot(unit_.word, "old");
  const bool is_double = unit_.program.globals[element.array].value == Type::Double;
  const uint32_t number = static_cast<uint32_t>(op) + (is_double ? abi::kDoubleOp : 0);
  llvm::Value* fresh =
      b_.CreateCall(unit_.entry("dj_map_update"),
                    {map(element.array), keys, unit_.number32(number), operand, old});
  return {want_old ? b_.CreateLoad(unit_.word, old) : fresh};
}

Value Body::visit(const Expr& expr, const Crement& node) {
  if (const auto* local = std::get_if<LocalRef>(&node.place->node))
    return crement_local(node, local->local);
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    llvm::Value* delta =
        expr.type == Type::Double ? double_constant(node.delta) : unit_.number(node.delta);
    return update_element(*element, keys(element->keys), BinOp::Add, delta, !node.prefix);
  }
  GlobalId id = std::get<GlobalRef>(node.place->node).global;
  const GlobalSlot& slot = unit_.layout.globals[id];
  if (unit_.program.globals[id].storage == Storage::Counter) {
    b_.CreateCall(unit_.entry("dj_count_add"),
                  {unit_.number32(slot.counter), unit_.number(node.delta)});
    return {unit_.number(0)};  // never looked at
  }
  if (expr.type == Type::Double)
    return update_double(slot, BinOp::Add, double_constant(node.delta), !node.prefix);
  return update_scalar(slot, BinOp::Add, unit_.number(node.delta), expr.span, !node.prefix);
}

Value Body::crement_local(const Crement& node, LocalId local) {
  llvm::Value* old = b_.CreateLoad(unit_.word, locals_[local]);
  llvm::Value* fresh = node.place->type == Type::Double
                           ? compute_doubles(BinOp::Add, old, double_constant(node.delta))
                           : b_.CreateAdd(old, unit_.number(node.delta));
  b_.CreateStore(fresh, locals_[local]);
  return {node.prefix ? fresh : old};
}

}  // namespace dj::ir
