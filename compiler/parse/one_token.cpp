// SPDX-License-Identifier: Apache-2.0
// The tables: for each decision of the grammar, which tokens its alternatives begin with.
#include "compiler/parse/one_token.h"

#include <array>
#include <bitset>
#include <optional>

namespace dj {

namespace {

using antlr4::atn::ATN;
using antlr4::atn::ATNState;
using antlr4::atn::Transition;

constexpr size_t kTokens = 192;  // types, from EOF (-1) on
constexpr uint8_t kUnclear = 255;
using Tokens = std::bitset<kTokens>;

struct Row {
  bool known = false;                 // false: a predicate has a say, or two ways out
  bool operators = false;             // the loop of a rule with precedences: go on (1) or leave (2)
  std::array<uint8_t, kTokens> by{};  // alternative of the token; of operators their precedence + 1
  uint8_t otherwise = 0;              // the alternative that may be empty
};

class Maker {
 public:
  explicit Maker(const ATN& atn) : atn_(atn), firsts_(atn.ruleToStartState.size()) {}

  Row row(const antlr4::atn::DecisionState& state) {
    Row made;
    made.known = atn_.maxTokenType + 2 <= kTokens;
    const auto* loop = dynamic_cast<const antlr4::atn::StarLoopEntryState*>(&state);
    made.operators = loop != nullptr && loop->isPrecedenceDecision;
    for (size_t i = 0; i < state.transitions.size() && made.known; ++i) {
      Front front;
      walk(state.transitions[i]->target, front);
      made.known = !front.predicates && i + 1 < kUnclear;
      if (made.operators && i == 0) {
        made.by = front.precedences;
      } else if (!made.operators) {
        add(made, front, static_cast<uint8_t>(i + 1));
      }
    }
    return made;
  }

 private:
  // What a walk from a state on meets before its first token.
  struct Front {
    Tokens tokens;
    bool empty = false;       // the end of the rule
    bool predicates = false;  // other than precedences
    std::array<uint8_t, kTokens> precedences{};
    uint8_t precedence = 0;  // of the operator that the walk is in, + 1
    std::vector<bool> seen;
  };

  static void add(Row& row, const Front& front, uint8_t alternative) {
    if (front.empty) {
      row.known = row.known && row.otherwise == 0;
      row.otherwise = alternative;
    }
    for (size_t t = 0; t < kTokens; ++t) {
      if (front.tokens[t]) row.by[t] = row.by[t] == 0 ? alternative : kUnclear;
    }
  }

  void walk(ATNState* state, Front& front) {
    front.seen.resize(atn_.states.size());
    if (front.seen[state->stateNumber]) return;
    front.seen[state->stateNumber] = true;
    if (state->getStateType() == ATNState::RULE_STOP) {
      front.empty = true;
      return;
    }
    for (Transition* transition : state->transitions) step(*transition, front);
  }

  void step(Transition& transition, Front& front) {
    switch (transition.getSerializationType()) {
      case Transition::EPSILON:
      case Transition::ACTION:
        walk(transition.target, front);
        break;
      case Transition::PRECEDENCE: {
        const uint8_t before = front.precedence;
        const auto& of = static_cast<antlr4::atn::PrecedencePredicateTransition&>(transition);
        front.precedence = static_cast<uint8_t>(of.precedence + 1);
        walk(transition.target, front);
        front.precedence = before;
        break;
      }
      case Transition::RULE: {
        const Front& inner = first(transition.target->ruleIndex);
        front.predicates |= inner.predicates;
        take(inner.tokens, front);
        if (inner.empty)
          walk(static_cast<antlr4::atn::RuleTransition&>(transition).followState, front);
        break;
      }
      case Transition::ATOM:
      case Transition::RANGE:
      case Transition::SET: {
        Tokens tokens;
        for (ssize_t type : transition.label().toList()) tokens.set(static_cast<size_t>(type + 1));
        take(tokens, front);
        break;
      }
      default:
        front.predicates = true;  // or a set of all tokens but some, which the grammar has not
    }
  }

  static void take(const Tokens& tokens, Front& front) {
    front.tokens |= tokens;
    for (size_t t = 0; t < kTokens && front.precedence != 0; ++t) {
      if (tokens[t]) front.precedences[t] = std::max(front.precedences[t], front.precedence);
    }
  }

  // No rule begins with itself: ANTLR has made loops of those that do.
  const Front& first(size_t rule) {
    if (!firsts_[rule]) {
      Front front;
      walk(atn_.ruleToStartState[rule], front);
      firsts_[rule] = std::move(front);
    }
    return *firsts_[rule];
  }

  const ATN& atn_;
  std::vector<std::optional<Front>> firsts_;  // by rule
};

std::vector<Row> make_rows(const ATN& atn) {
  Maker maker(atn);
  std::vector<Row> rows;
  if (atn.maxTokenType + 2 > kTokens) return rows;
  for (const antlr4::atn::DecisionState* state : atn.decisionToState)
    rows.push_back(maker.row(*state));
  return rows;
}

// The grammar is one, and so are its tables.
const std::vector<Row>& rows_of(const ATN& atn) {
  static const std::vector<Row> rows = make_rows(atn);
  return rows;
}

}  // namespace

OneToken::OneToken(antlr4::Parser& parser)
    : ParserATNSimulator(
          &parser, parser.getATN(),
          parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->decisionToDFA,
          parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->getSharedContextCache()) {}

size_t OneToken::adaptivePredict(antlr4::TokenStream* input, size_t decision,
                                 antlr4::ParserRuleContext* outer) {
  const std::vector<Row>& rows = rows_of(atn);
  if (on_ && decision < rows.size() && rows[decision].known) {
    const Row& row = rows[decision];
    const uint8_t found = row.by[input->LA(1) + 1];  // EOF is -1
    if (row.operators) return int(found) > parser->getPrecedence() ? 1 : 2;
    if (found != kUnclear && found != 0) return found;
    if (found == 0 && row.otherwise != 0) return row.otherwise;
  }
  return ParserATNSimulator::adaptivePredict(input, decision, outer);
}

}  // namespace dj
