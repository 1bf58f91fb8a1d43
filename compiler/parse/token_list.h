// SPDX-License-Identifier: Apache-2.0
// TokenList: lexemes as ANTLR's parser reads them. ANTLR's own streams fetch tokens from a source
// one by one, and skip those of other channels, of which there are none here: twice the time.
#pragma once
#include <antlr4-runtime.h>

#include <vector>

#include "compiler/parse/lexeme.h"

namespace dj {

// The token's index is that of its lexeme. The last one is EOF, and nothing goes behind it. Texts
// are the lexemes' own; who asks a token for its text gets none.
class TokenList final : public antlr4::TokenStream {
 public:
  explicit TokenList(const Lexemes& lexemes) {
    tokens_.reserve(lexemes.size());
    for (const Lexeme& lexeme : lexemes) {
      antlr4::CommonToken& token = tokens_.emplace_back(lexeme.type);
      token.setTokenIndex(tokens_.size() - 1);
      token.setStartIndex(lexeme.span.begin);
      token.setStopIndex(static_cast<size_t>(lexeme.span.end) - 1);
    }
  }

  antlr4::Token* LT(ssize_t ahead) override {  // 1: the next one, -1: the one before
    const size_t place = at_ + static_cast<size_t>(ahead > 0 ? ahead - 1 : ahead);
    return &tokens_[std::min(place, tokens_.size() - 1)];
  }
  size_t LA(ssize_t ahead) override { return LT(ahead)->getType(); }
  void consume() override { at_ = std::min(at_ + 1, tokens_.size() - 1); }
  antlr4::Token* get(size_t index) const override {
    return const_cast<antlr4::CommonToken*>(&tokens_.at(index));
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t place) override { at_ = std::min(place, tokens_.size() - 1); }
  size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return UNKNOWN_SOURCE_NAME; }
  // Asked for by who makes up missing tokens; our error strategies do not.
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return ""; }
  std::string getText() override { return ""; }
  std::string getText(antlr4::RuleContext*) override { return ""; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return ""; }

 private:
  std::vector<antlr4::CommonToken> tokens_;
  size_t at_ = 0;
};

}  // namespace dj
