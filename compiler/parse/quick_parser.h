// SPDX-License-Identifier: Apache-2.0
// QuickParser: what the generated parser does for every rule that it enters and leaves, without
// asking objects for types that are known: a tenth of the time of parsing. It stands between
// antlr4::Parser and DjtParser (superClass in Djt.g4).
#pragma once
#include <antlr4-runtime.h>

class QuickParser : public antlr4::Parser {
 public:
  using antlr4::Parser::Parser;

  // In place of the runtime's own, in the generated code: the parser has no listeners, a rule's
  // parent is a rule, and there is one kind of simulator.
  template <class T>
  T* getInterpreter() const {
    return static_cast<T*>(_interpreter);
  }
  void exitRule() {
    _ctx->stop = _input->LT(_matchedEOF ? 1 : -1);
    setState(_ctx->invokingState);
    _ctx = parent();
  }
  void enterOuterAlt(antlr4::ParserRuleContext* alternative, size_t number) override {
    alternative->setAltNumber(number);
    if (_ctx != alternative && _ctx->parent != nullptr) {
      parent()->removeLastChild();
      parent()->addChild(alternative);
    }
    _ctx = alternative;
  }

 protected:
  void addContextToParseTree() override {
    if (_ctx->parent != nullptr) parent()->addChild(_ctx);
  }

 private:
  antlr4::ParserRuleContext* parent() const {
    return static_cast<antlr4::ParserRuleContext*>(_ctx->parent);
  }
};
