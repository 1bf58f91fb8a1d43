// SPDX-License-Identifier: Apache-2.0
// SyntaxError: where the parser could not go on, and its telling in words that are not ANTLR's.
#pragma once
#include <antlr4-runtime.h>

#include <optional>
#include <vector>

#include "compiler/parse/lexeme.h"

namespace dj {

struct SyntaxError {
  size_t at = 0;                 // index of the token that does not fit
  std::vector<size_t> expected;  // token types that would have; empty: not known
  std::vector<size_t> rules;     // the grammar rules it happened in, innermost first
};

// Stops the parser at its first error and keeps it.
class ErrorCatcher : public antlr4::DefaultErrorStrategy {
 public:
  const SyntaxError& error() const { return error_; }
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override;
  void recover(antlr4::Parser* parser, std::exception_ptr e) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  SyntaxError error_;
  // The decisions made at token synced_at_: when it fits none, all of them had a say.
  size_t synced_at_ = SIZE_MAX;
  std::vector<size_t> synced_states_;
};

// Makes the Diag. `first` is the index of the first token of the probe, function or global.
void report_syntax(const SyntaxError& error, const Lexemes& lexemes, size_t first, Diags& diags);

// "an expression", "',' or ')'": the expected tokens in words; "" when nothing useful is known.
std::string describe_expected(const std::vector<size_t>& expected);
// "the name \"x\"", "'='", "the end of the script".
std::string describe_found(const Lexeme& lexeme);

}  // namespace dj
