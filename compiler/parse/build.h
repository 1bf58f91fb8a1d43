// SPDX-License-Identifier: Apache-2.0
// Builder: ANTLR's tree to ast::Script, one file per family of rules. Refuses, by name and at the
// exact place, what the AST cannot express yet.
#pragma once
#include <set>

#include "DjtBaseVisitor.h"
#include "compiler/parse/lexeme.h"
#include "compiler/stages/ast.h"

namespace dj {

class Builder : private DjtBaseVisitor {
 public:
  // `lexemes` are the parser's tokens in order; both outlive the builder.
  Builder(const Lexemes& lexemes, const Sources& sources, Diags& diags)
      : lexemes_(lexemes), sources_(sources), diags_(diags) {}

  void add(DjtParser::ItemContext* item);
  // The finished script; call once, after the last add().
  ast::Script take();

 private:
  using Any = antlrcpp::Any;

  // --- build_declarations.cpp
  void add_global(DjtParser::GlobalDefContext* ctx);
  void add_function(DjtParser::FunctionDefContext* ctx);
  ast::GlobalDecl global_var(DjtParser::GlobalVarContext* ctx, bool is_private);

  // --- build_probes.cpp
  void add_probe(DjtParser::ProbeDefContext* ctx);
  void add_alias(DjtParser::ProbeDefContext* ctx);
  ast::StmtPtr body(DjtParser::BodyContext* ctx);
  ast::StmtPtr bare_body(const ast::Probe& probe);
  std::vector<ast::ProbePoint> points(DjtParser::ProbePointsContext* ctx);
  std::vector<ast::ProbePoint> point(DjtParser::ProbePointContext* ctx);
  ast::Component component(DjtParser::ComponentContext* ctx);

  // --- build_statements.cpp
  ast::StmtPtr stmt(DjtParser::StmtContext* ctx);
  ast::StmtPtr block(const std::vector<DjtParser::StmtContext*>& stmts, Span span);
  ast::StmtPtr block(DjtParser::BlockContext* ctx);
  template <typename Node>
  Any statement(antlr4::ParserRuleContext* ctx, Node node);
  bool loop_keys(DjtParser::LoopKeysContext* ctx, std::vector<ast::LoopKey>& out);
  void loop_array(DjtParser::LoopArrayContext* ctx, ast::Foreach& out);
  void suspect_misspelling(const ast::Expr& expr, DjtParser::ExprContext* ctx);
  Any visitBlockStmt(DjtParser::BlockStmtContext* ctx) override;
  Any visitEmptyStmt(DjtParser::EmptyStmtContext* ctx) override;
  Any visitIfStmt(DjtParser::IfStmtContext* ctx) override;
  Any visitWhileStmt(DjtParser::WhileStmtContext* ctx) override;
  Any visitForStmt(DjtParser::ForStmtContext* ctx) override;
  Any visitForeachStmt(DjtParser::ForeachStmtContext* ctx) override;
  Any visitTryStmt(DjtParser::TryStmtContext* ctx) override;
  Any visitSimpleStmt(DjtParser::SimpleStmtContext* ctx) override;
  Any visitReturnNothing(DjtParser::ReturnNothingContext* ctx) override;
  Any visitReturnValue(DjtParser::ReturnValueContext* ctx) override;
  Any visitDeleteStmt(DjtParser::DeleteStmtContext* ctx) override;
  Any visitNextStmt(DjtParser::NextStmtContext* ctx) override;
  Any visitBreakStmt(DjtParser::BreakStmtContext* ctx) override;
  Any visitContinueStmt(DjtParser::ContinueStmtContext* ctx) override;
  Any visitExprStmt(DjtParser::ExprStmtContext* ctx) override;

  // --- build_expressions.cpp
  ast::ExprPtr expr(DjtParser::ExprContext* ctx);
  std::vector<ast::ExprPtr> exprs(DjtParser::ExprsContext* ctx);
  template <typename Node>
  Any expression(antlr4::ParserRuleContext* ctx, Node node);
  void check_lvalue(const ast::Expr& expr, const char* code, const std::string& message);
  Any visitPrefixCrement(DjtParser::PrefixCrementContext* ctx) override;
  Any visitOperand(DjtParser::OperandContext* ctx) override;
  Any visitTupleIn(DjtParser::TupleInContext* ctx) override;
  Any visitSingleIn(DjtParser::SingleInContext* ctx) override;
  Any visitUnary(DjtParser::UnaryContext* ctx) override;
  Any visitBinary(DjtParser::BinaryContext* ctx) override;
  Any visitRegex(DjtParser::RegexContext* ctx) override;
  Any visitTernary(DjtParser::TernaryContext* ctx) override;
  Any visitAssign(DjtParser::AssignContext* ctx) override;

  // --- build_operands.cpp
  ast::ExprPtr postfix(DjtParser::PostfixContext* ctx);
  void index_keys(const std::vector<DjtParser::IndexKeyContext*>& keys,
                  std::vector<ast::ExprPtr>& out);
  static int trailing_dollars(std::string& name);
  ast::ExprPtr member(ast::ExprPtr base, DjtParser::PostfixContext* ctx);
  // The steps from number `first` on.
  void accesses(DjtParser::PostfixContext* ctx, std::vector<ast::Access>& path, int& pretty,
                size_t first = 0);
  ast::ExprPtr histogram(DjtParser::ArrayNameContext* ctx);
  ast::ExprPtr target_path(ast::ExprPtr base, DjtParser::PostfixContext* ctx);
  ast::ExprPtr raw_read(const std::string& word, DjtParser::AtWordContext* ctx);
  ast::ExprPtr array_element(ast::ExprPtr base, DjtParser::PostfixContext* ctx);
  bool add_access(DjtParser::DerefContext* ctx, std::vector<ast::Access>& path, int& pretty);
  template <typename Node>
  void array_name(DjtParser::ArrayNameContext* ctx, Node& out);
  Any visitParens(DjtParser::ParensContext* ctx) override;
  Any visitAtWord(DjtParser::AtWordContext* ctx) override;
  Any visitNameOrCall(DjtParser::NameOrCallContext* ctx) override;
  Any visitTarget(DjtParser::TargetContext* ctx) override;
  Any visitNumber(DjtParser::NumberContext* ctx) override;
  Any visitFraction(DjtParser::FractionContext* ctx) override;
  Any visitText(DjtParser::TextContext* ctx) override;

  // --- build.cpp
  const Lexeme& lexeme(const antlr4::Token* token) const;
  const Lexeme& lexeme(antlr4::tree::TerminalNode* node) const;
  Span span(const antlr4::Token* token) const { return lexeme(token).span; }
  Span span(antlr4::tree::TerminalNode* node) const { return lexeme(node).span; }
  Span span(const antlr4::ParserRuleContext* ctx) const;
  std::string text(antlr4::tree::TerminalNode* node) const { return lexeme(node).text; }
  std::string string_value(DjtParser::StringContext* ctx) const;
  // A wrong number is reported and reads as 0.
  int64_t number(const antlr4::Token* token, bool negative = false);
  int64_t number(antlr4::tree::TerminalNode* node, bool negative = false) {
    return number(node->getSymbol(), negative);
  }
  double fraction(antlr4::tree::TerminalNode* node, bool negative = false);
  ast::ExprPtr literal(DjtParser::LiteralContext* ctx);
  ast::ExprPtr initial(DjtParser::InitialContext* ctx);

  static constexpr size_t kMaxPoints = 10000;  // that one point with {...} may stand for

  // A possible typing mistake that only the whole script can confirm.
  struct Suspect {
    Span span;
    std::string name, meant;
  };

  const Lexemes& lexemes_;
  const Sources& sources_;
  Diags& diags_;
  ast::Script script_;
  std::vector<Suspect> suspects_;
  // What the last visit built: visits return nothing, because ANTLR's Any cannot hold unique_ptrs.
  ast::ExprPtr expr_;
  ast::StmtPtr stmt_;
};

}  // namespace dj
