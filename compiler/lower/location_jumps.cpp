// Jumps in locations: a label is a block, and the stack's words there are slots that each way to it
// fills. LLVM makes registers of them.
#include <algorithm>

#include "compiler/lower/body.h"

namespace dj::ir {

struct Body::Ways {
  struct Label {
    llvm::BasicBlock* block = nullptr;
    std::vector<llvm::AllocaInst*> words;  // each of its word's type
  };
  std::map<size_t, Label> labels;  // by the label's step
  llvm::AllocaInst* rounds;        // jumps backwards so far
  llvm::AllocaInst* result;
  llvm::BasicBlock* end;  // where `result` is the value
};

namespace {

size_t label_of(const std::vector<LocStep>& steps, size_t jump) {
  const bool back = steps[jump].b != 0;
  size_t at = jump;
  do {
    at += back ? size_t(-1) : 1;
    CHECK(at < steps.size());
  } while (steps[at].op != LocStep::Label || steps[at].a != steps[jump].a);
  return at;
}

}  // namespace

void Body::come_to(size_t label, Ways& ways, const std::vector<llvm::Value*>& stack) {
  Ways::Label& there = ways.labels[label];
  if (there.block == nullptr) {
    there.block = block("label");
    for (size_t i = 0; i < stack.size(); ++i)
      there.words.push_back(slot(stack[i]->getType(), "way"));
  }
  CHECK(there.words.size() == stack.size());
  for (size_t i = 0; i < stack.size(); ++i) b_.CreateStore(stack[i], there.words[i]);
  b_.CreateBr(there.block);
}

// What goes round too often is an error, or where errors are only noted has no value.
void Body::count_round(Ways& ways, Span span) {
  llvm::Value* rounds = b_.CreateAdd(b_.CreateLoad(unit_.word, ways.rounds), unit_.number(1));
  b_.CreateStore(rounds, ways.rounds);
  llvm::Value* is_over = b_.CreateICmpUGT(rounds, unit_.number(kMaxRounds));
  if (!lenient_) {
    fail_if(is_over, span, abi::kErrEndless, unit_.number(kMaxRounds));
    return;
  }
  llvm::BasicBlock *over = block("endless"), *on = block("round");
  b_.CreateCondBr(is_over, over, on);
  b_.SetInsertPoint(over);
  b_.CreateStore(unit_.number32(1), lenient_);
  b_.CreateBr(ways.end);
  b_.SetInsertPoint(on);
}

void Body::location_jump(const std::vector<LocStep>& steps, size_t at, Ways& ways,
                         std::vector<llvm::Value*>& stack, Span span) {
  const bool conditional = steps[at].op == LocStep::JumpIf;
  llvm::BasicBlock* on = conditional ? block("on") : nullptr;
  if (conditional) {
    CHECK(!stack.empty());
    llvm::BasicBlock* taken = block("taken");
    b_.CreateCondBr(b_.CreateICmpNE(stack.back(), unit_.number(0)), taken, on);
    stack.pop_back();
    b_.SetInsertPoint(taken);
  }
  if (steps[at].b != 0) count_round(ways, span);
  come_to(label_of(steps, at), ways, stack);
  if (conditional) b_.SetInsertPoint(on);
}

llvm::Value* Body::location_with_jumps(const LocExpr& location,
                                       const std::vector<llvm::Value*>& args, Span span) {
  Ways ways{{}, slot(unit_.word, "rounds"), slot(unit_.word, "value"), block("placed")};
  b_.CreateStore(unit_.number(0), ways.rounds);
  b_.CreateStore(unit_.number(0), ways.result);
  std::vector<llvm::Value*> stack;
  bool reachable = true;
  for (size_t i = 0; i < location.steps.size(); ++i) {
    const LocStep& step = location.steps[i];
    if (step.op == LocStep::Label) {
      if (reachable) come_to(i, ways, stack);
      const Ways::Label& here = ways.labels.at(i);
      b_.SetInsertPoint(here.block);
      stack.clear();
      for (llvm::AllocaInst* word : here.words)
        stack.push_back(b_.CreateLoad(word->getAllocatedType(), word));
      reachable = true;
    } else if (is_jump(step.op)) {
      location_jump(location.steps, i, ways, stack, span);
      reachable = step.op == LocStep::JumpIf;
    } else {
      CHECK(reachable);
      location_step(step, stack, args, span);
    }
  }
  CHECK(!stack.empty() && reachable);
  b_.CreateStore(stack.back(), ways.result);
  b_.CreateBr(ways.end);
  b_.SetInsertPoint(ways.end);
  return b_.CreateLoad(unit_.word, ways.result);
}

}  // namespace dj::ir
