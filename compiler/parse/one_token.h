// SPDX-License-Identifier: Apache-2.0
// OneToken: ANTLR's decisions by one token of lookahead, from tables. Nearly every decision of the
// grammar needs no more (Djt.g4), and ANTLR finds that out anew in each run, state by state.
#pragma once
#include <antlr4-runtime.h>

namespace dj {

class OneToken : public antlr4::atn::ParserATNSimulator {
 public:
  // Takes the place of the parser's own simulator, with which it shares all but the tables.
  explicit OneToken(antlr4::Parser& parser);

  // on: the tables decide where one token does. A parser that fails has to be asked again without
  // them: on wrong input they may lead to another error than the first one.
  void use_tables(bool on) { on_ = on; }

  // What ANTLR asks: the number of the alternative, from 1.
  size_t adaptivePredict(antlr4::TokenStream* input, size_t decision,
                         antlr4::ParserRuleContext* outer) override;

 private:
  bool on_ = false;
};

}  // namespace dj
