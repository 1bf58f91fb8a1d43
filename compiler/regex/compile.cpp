// SPDX-License-Identifier: Apache-2.0
// Tree to program: every part becomes steps in a row, with splits where the matcher may go two
// ways.
#include <algorithm>
#include <cstring>

#include "compiler/regex/tree.h"
#include "runtime/shared/regex.h"

namespace dj {
namespace {

using namespace regex;

struct Emitter {
  std::vector<abi::RegexStep> steps;
  std::vector<Set> classes;

  bool full() const { return steps.size() > abi::kMaxRegexSteps; }
  size_t emit(abi::RegexOp op, size_t a = 0, size_t b = 0) {
    steps.push_back({op, static_cast<uint16_t>(a), static_cast<uint16_t>(b)});
    return steps.size() - 1;
  }
  uint16_t here() const { return static_cast<uint16_t>(steps.size()); }

  void emit(const Node& n) {
    if (full()) return;
    std::visit([this](const auto& part) { emit_part(part); }, n.node);
  }

  void emit_part(const Bytes& bytes) {
    if (bytes.set.all()) {
      emit(abi::kRegexAny);
    } else if (bytes.set.count() == 1) {
      emit(abi::kRegexByte, bytes.set._Find_first());
    } else {
      auto known = std::find(classes.begin(), classes.end(), bytes.set);
      if (known == classes.end()) known = classes.insert(classes.end(), bytes.set);
      emit(abi::kRegexClass, static_cast<size_t>(known - classes.begin()));
    }
  }
  void emit_part(const Begin&) { emit(abi::kRegexBegin); }
  void emit_part(const End&) { emit(abi::kRegexEnd); }
  void emit_part(const Sequence& sequence) {
    for (const NodePtr& each : sequence.parts) emit(*each);
  }
  void emit_part(const Group& group) {
    emit(abi::kRegexSave, size_t{2} * group.number);
    emit(*group.inside);
    emit(abi::kRegexSave, 2 * group.number + 1);
  }
  void emit_part(const Choice& choice) {
    std::vector<size_t> ends;
    for (size_t i = 0; i + 1 < choice.parts.size(); ++i) {
      size_t split = emit(abi::kRegexSplit, here() + 1u);
      emit(*choice.parts[i]);
      ends.push_back(emit(abi::kRegexJump));
      steps[split].b = here();
    }
    emit(*choice.parts.back());
    for (size_t end : ends) steps[end].a = here();
  }
  void emit_part(const Repeat& repeat) {
    for (unsigned i = 0; i < repeat.least && !full(); ++i) emit(*repeat.what);
    if (repeat.most == kForever) {
      size_t split = emit(abi::kRegexSplit, here() + 1u);
      emit(*repeat.what);
      emit(abi::kRegexJump, split);
      steps[split].b = here();
      return;
    }
    std::vector<size_t> splits;
    for (unsigned i = repeat.least; i < repeat.most && !full(); ++i) {
      splits.push_back(emit(abi::kRegexSplit, here() + 1u));
      emit(*repeat.what);
    }
    for (size_t split : splits) steps[split].b = here();
  }
};

std::string pack(const Emitter& emitted, unsigned groups) {
  abi::RegexHead head = {static_cast<uint16_t>(emitted.steps.size()),
                         static_cast<uint16_t>(groups)};
  std::string program(reinterpret_cast<const char*>(&head), sizeof head);
  program.append(reinterpret_cast<const char*>(emitted.steps.data()),
                 emitted.steps.size() * sizeof(abi::RegexStep));
  for (const Set& set : emitted.classes) {
    char bits[abi::kRegexClassBytes] = {};
    for (size_t c = 0; c < set.size(); ++c) {
      if (set[c]) bits[c / 8] = static_cast<char>(bits[c / 8] | 1 << (c % 8));
    }
    program.append(bits, sizeof bits);
  }
  return program;
}

}  // namespace

std::variant<std::string, RegexMistake> compile_regex(std::string_view pattern) {
  std::variant<Tree, RegexMistake> parsed = regex::parse(pattern);
  if (RegexMistake* mistake = std::get_if<RegexMistake>(&parsed)) return *mistake;
  const Tree& tree = std::get<Tree>(parsed);
  Emitter emitted;
  emitted.emit(abi::kRegexSave, 0);
  emitted.emit(*tree.root);
  emitted.emit(abi::kRegexSave, 1);
  emitted.emit(abi::kRegexMatch);
  if (emitted.full()) {
    return RegexMistake{
        0, pattern.size(),
        "this pattern is too large: more than " + std::to_string(abi::kMaxRegexSteps) + " steps"};
  }
  return pack(emitted, tree.groups);
}

}  // namespace dj
