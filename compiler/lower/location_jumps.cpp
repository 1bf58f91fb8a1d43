// SPDX-License-Identifier: Apache-2.0
// Jumps in locations.
#include <map>

#include "compiler/lower/locations.h"

namespace dj::ir {

namespace {

// What the labels of one location are.
struct Ways {
  struct Label {
    llvm::BasicBlock* block = nullptr;
    std::vector<llvm::AllocaInst*> words;  // each of its word's type
  };
  std::map<size_t, Label> labels;  // by the label's step
  llvm::AllocaInst* rounds;        // jumps backwards so far
  llvm::AllocaInst* result;
  llvm::BasicBlock* end;  // where `result` is the value
};

size_t label_of(const std::vector<LocStep>& steps, size_t jump) {
  const bool back = steps[jump].b != 0;
  size_t at = jump;
  do {
    at += back ? size_t(-1) : 1;
    CHECK(at < steps.size());
  } while (steps[at].op != LocStep::Label || steps[at].a != steps[jump].a);
  return at;
}

void come_to(Code& code, size_t label, Ways& ways, const LocationStack& stack) {
  Ways::Label& there = ways.labels[label];
  if (there.block == nullptr) {
    there.block = code.block("label");
    for (size_t i = 0; i < stack.size(); ++i)
      there.words.push_back(code.slot(stack[i]->getType(), "way"));
  }
  CHECK(there.words.size() == stack.size());
  for (size_t i = 0; i < stack.size(); ++i) code.b.CreateStore(stack[i], there.words[i]);
  code.b.CreateBr(there.block);
}

// What goes round too often is an error, or where errors are only noted has no value.
void count_round(Locations& locations, Ways& ways, Span span) {
  Code& code = locations.code();
  llvm::Value* rounds = code.b.CreateAdd(code.load(ways.rounds), code.number(1));
  code.b.CreateStore(rounds, ways.rounds);
  llvm::Value* is_over = code.b.CreateICmpUGT(rounds, code.number(kMaxRounds));
  llvm::Value* bad = locations.noted_in();
  if (bad == nullptr) {
    code.fail_if(is_over, span, abi::kErrEndless, code.number(kMaxRounds));
    return;
  }
  llvm::BasicBlock *over = code.block("endless"), *on = code.block("round");
  code.b.CreateCondBr(is_over, over, on);
  code.b.SetInsertPoint(over);
  code.b.CreateStore(code.number32(1), bad);
  code.b.CreateBr(ways.end);
  code.b.SetInsertPoint(on);
}

void go(Locations& locations, const std::vector<LocStep>& steps, size_t at, Ways& ways,
        LocationStack& stack, Span span) {
  Code& code = locations.code();
  const bool conditional = steps[at].op == LocStep::JumpIf;
  llvm::BasicBlock* on = conditional ? code.block("on") : nullptr;
  if (conditional) {
    llvm::BasicBlock* taken = code.block("taken");
    code.b.CreateCondBr(code.b.CreateICmpNE(pop(stack), code.number(0)), taken, on);
    code.b.SetInsertPoint(taken);
  }
  if (steps[at].b != 0) count_round(locations, ways, span);
  come_to(code, label_of(steps, at), ways, stack);
  if (conditional) code.b.SetInsertPoint(on);
}

}  // namespace

llvm::Value* value_with_jumps(Locations& locations, const LocExpr& location,
                              const std::vector<llvm::Value*>& args, Span span) {
  Code& code = locations.code();
  Ways ways{{},
            code.slot(code.unit.word, "rounds"),
            code.slot(code.unit.word, "value"),
            code.block("placed")};
  code.b.CreateStore(code.number(0), ways.rounds);
  code.b.CreateStore(code.number(0), ways.result);
  LocationStack stack;
  bool reachable = true;
  for (size_t i = 0; i < location.steps.size(); ++i) {
    const LocStep& step = location.steps[i];
    if (step.op == LocStep::Label) {
      if (reachable) come_to(code, i, ways, stack);
      const Ways::Label& here = ways.labels.at(i);
      code.b.SetInsertPoint(here.block);
      stack.clear();
      for (llvm::AllocaInst* word : here.words)
        stack.push_back(code.b.CreateLoad(word->getAllocatedType(), word));
      reachable = true;
    } else if (is_jump(step.op)) {
      go(locations, location.steps, i, ways, stack, span);
      reachable = step.op == LocStep::JumpIf;
    } else {
      CHECK(reachable);
      locations.step(step, stack, args, span);
    }
  }
  CHECK(!stack.empty() && reachable);
  code.b.CreateStore(stack.back(), ways.result);
  code.b.CreateBr(ways.end);
  code.b.SetInsertPoint(ways.end);
  return code.load(ways.result);
}

}  // namespace dj::ir
