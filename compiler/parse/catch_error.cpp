// SPDX-License-Identifier: Apache-2.0
// ErrorCatcher: ANTLR's recovery guesses what was meant and goes on; ours stops at the exact token.
#include "compiler/parse/syntax_error.h"

namespace dj {

void ErrorCatcher::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) {
  error_ = SyntaxError{};
  error_.at = e.getOffendingToken()->getTokenIndex();
  const auto* no_alternative = dynamic_cast<const antlr4::NoViableAltException*>(&e);
  // When the parser looked further ahead, what would have fitted there is not known.
  bool known =
      no_alternative == nullptr || no_alternative->getStartToken()->getTokenIndex() == error_.at;
  if (known) {
    for (ssize_t type : parser->getExpectedTokens().toList()) {
      error_.expected.push_back(static_cast<size_t>(type));
    }
  }
  if (known && synced_at_ == error_.at) {
    const antlr4::atn::ATN& atn = parser->getATN();
    for (size_t state : synced_states_) {
      for (ssize_t type : atn.nextTokens(atn.states[state]).toList()) {
        if (type > 0) {
          error_.expected.push_back(static_cast<size_t>(type));
        }
      }
    }
  }
  for (antlr4::tree::ParseTree* node = parser->getContext(); node != nullptr; node = node->parent) {
    error_.rules.push_back(static_cast<antlr4::ParserRuleContext*>(node)->getRuleIndex());
  }
}

void ErrorCatcher::recover(antlr4::Parser*, std::exception_ptr) {
  throw antlr4::ParseCancellationException();
}

antlr4::Token* ErrorCatcher::recoverInline(antlr4::Parser* parser) {
  throw antlr4::InputMismatchException(parser);
}

void ErrorCatcher::sync(antlr4::Parser* parser) {
  const antlr4::atn::ATN& atn = parser->getATN();
  size_t at = parser->getCurrentToken()->getTokenIndex();
  if (at != synced_at_) {
    synced_at_ = at;
    synced_states_.clear();
  }
  synced_states_.push_back(parser->getState());
  antlr4::misc::IntervalSet next = atn.nextTokens(atn.states[parser->getState()]);
  bool fits =
      next.contains(antlr4::Token::EPSILON) || next.contains(parser->getTokenStream()->LA(1));
  if (!fits) {
    throw antlr4::InputMismatchException(parser);
  }
}

}  // namespace dj
