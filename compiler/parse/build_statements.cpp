// SPDX-License-Identifier: Apache-2.0
// Statements: one visit per rule, and the misspelled keywords among them.
#include <algorithm>

#include "compiler/parse/build.h"

namespace dj {

using namespace ast;

StmtPtr Builder::stmt(DjtParser::StmtContext* ctx) {
  ctx->accept(this);
  return std::move(stmt_);
}

template <typename Node>
Builder::Any Builder::statement(antlr4::ParserRuleContext* ctx, Node node) {
  stmt_ = std::make_unique<Stmt>();
  stmt_->span = span(ctx);
  stmt_->node = std::move(node);
  return {};
}

StmtPtr Builder::block(const std::vector<DjtParser::StmtContext*>& stmts, Span span) {
  Block made;
  for (DjtParser::StmtContext* inner : stmts) {
    made.body.push_back(stmt(inner));
  }
  auto result = std::make_unique<Stmt>();
  result->span = span;
  result->node = std::move(made);
  return result;
}

StmtPtr Builder::block(DjtParser::BlockContext* ctx) { return block(ctx->stmt(), span(ctx)); }

Builder::Any Builder::visitBlockStmt(DjtParser::BlockStmtContext* ctx) {
  stmt_ = block(ctx->block());
  return {};
}

Builder::Any Builder::visitEmptyStmt(DjtParser::EmptyStmtContext* ctx) {
  return statement(ctx, Empty{});
}

Builder::Any Builder::visitIfStmt(DjtParser::IfStmtContext* ctx) {
  If made;
  made.condition = expr(ctx->condition);
  made.then = stmt(ctx->then);
  if (ctx->otherwise != nullptr) made.otherwise = stmt(ctx->otherwise);
  return statement(ctx, std::move(made));
}

Builder::Any Builder::visitWhileStmt(DjtParser::WhileStmtContext* ctx) {
  While made;
  made.condition = expr(ctx->expr());
  made.body = stmt(ctx->stmt());
  return statement(ctx, std::move(made));
}

Builder::Any Builder::visitForStmt(DjtParser::ForStmtContext* ctx) {
  auto part = [&](DjtParser::ExprContext* e) { return e != nullptr ? expr(e) : nullptr; };
  For made;
  made.init = part(ctx->init);
  made.condition = part(ctx->cond);
  made.step = part(ctx->step);
  made.body = stmt(ctx->stmt());
  return statement(ctx, std::move(made));
}

Builder::Any Builder::visitForeachStmt(DjtParser::ForeachStmtContext* ctx) {
  Foreach made;
  bool has_value = ctx->ASSIGN() != nullptr;
  loop_keys(ctx->loopKeys(has_value ? 1 : 0), made.keys);
  if (has_value) {
    std::vector<LoopKey> value;
    if (loop_keys(ctx->loopKeys(0), value)) {
      diags_.error("DJ1013", span(ctx->loopKeys(0)), "expected one name for the value before '='")
          .help = "foreach (value = [key1, key2] in array)";
    }
    made.value = std::move(value[0]);
  }
  loop_array(ctx->loopArray(), made);
  if (ctx->expr() != nullptr) {
    made.limit = expr(ctx->expr());
  }
  made.body = stmt(ctx->stmt());
  return statement(ctx, std::move(made));
}

// Whether the keys stand in brackets.
bool Builder::loop_keys(DjtParser::LoopKeysContext* ctx, std::vector<LoopKey>& out) {
  for (DjtParser::LoopKeyContext* key : ctx->loopKey()) {
    int sort = key->sort() == nullptr ? 0 : key->sort()->PLUS() != nullptr ? 1 : -1;
    out.push_back({text(key->ID()), span(key->ID()), sort});
  }
  return ctx->LBRACKET() != nullptr;
}

void Builder::loop_array(DjtParser::LoopArrayContext* ctx, Foreach& out) {
  array_name(ctx->arrayName(), out);
  if (ctx->index() != nullptr) {
    index_keys(ctx->index()->indexKey(), out.slice);
  }
  if (ctx->sort() != nullptr) {
    out.array_sort = ctx->sort()->PLUS() != nullptr ? 1 : -1;
  }
  if (ctx->ATWORD() != nullptr) {
    out.array_op = text(ctx->ATWORD()).substr(1);
    out.array_op_span = span(ctx->ATWORD());
    if (out.array_sort == 0) {
      diags_
          .error("DJ1023", span(ctx->ATWORD()),
                 "sorting by @" + out.array_op + " needs a direction")
          .help =
          "write " + out.array + "@" + out.array_op + "- for the largest first, + for the smallest";
    }
  }
}

Builder::Any Builder::visitTryStmt(DjtParser::TryStmtContext* ctx) {
  Try made;
  made.body = block(ctx->block(0));
  if (ctx->ID() != nullptr) {
    made.error = text(ctx->ID());
    made.error_span = span(ctx->ID());
  }
  made.handler = block(ctx->block(1));
  return statement(ctx, std::move(made));
}

Builder::Any Builder::visitSimpleStmt(DjtParser::SimpleStmtContext* ctx) {
  ctx->simple()->accept(this);
  return {};
}

Builder::Any Builder::visitReturnNothing(DjtParser::ReturnNothingContext* ctx) {
  return statement(ctx, Return{});
}

Builder::Any Builder::visitReturnValue(DjtParser::ReturnValueContext* ctx) {
  return statement(ctx, Return{expr(ctx->expr())});
}

Builder::Any Builder::visitDeleteStmt(DjtParser::DeleteStmtContext* ctx) {
  ExprPtr what = expr(ctx->expr());
  if (!std::holds_alternative<Name>(what->node) && !std::holds_alternative<Index>(what->node)) {
    diags_.error("DJ1021", what->span,
                 "only a variable, an array or an array element can be deleted");
  }
  return statement(ctx, Delete{std::move(what)});
}

Builder::Any Builder::visitNextStmt(DjtParser::NextStmtContext* ctx) {
  return statement(ctx, Next{});
}

Builder::Any Builder::visitBreakStmt(DjtParser::BreakStmtContext* ctx) {
  return statement(ctx, Break{});
}

Builder::Any Builder::visitContinueStmt(DjtParser::ContinueStmtContext* ctx) {
  return statement(ctx, Continue{});
}

Builder::Any Builder::visitExprStmt(DjtParser::ExprStmtContext* ctx) {
  ExprPtr value = expr(ctx->expr());
  suspect_misspelling(*value, ctx->expr());
  return statement(ctx, ExprStmt{std::move(value)});
}

// "retrun x" and "wihle (c) { }" are grammatical: a name or a call, and then another statement on
// the same line. Nobody writes that on purpose when the name is one slip away from a keyword.
void Builder::suspect_misspelling(const Expr& value, DjtParser::ExprContext* ctx) {
  const auto* name = std::get_if<Name>(&value.node);
  const auto* call = std::get_if<Call>(&value.node);
  if (name == nullptr && call == nullptr) {
    return;
  }
  const Lexeme& after = lexemes_.at(ctx->stop->getTokenIndex() + 1);
  bool separated = after.type == DjtParser::SEMICOLON || after.type == DjtParser::RBRACE ||
                   after.type == DjtParser::ANGLE_CLOSE || after.span.begin < value.span.end;
  bool one_text = after.span.file == value.span.file && after.span.via == value.span.via;
  if (separated || !one_text || (call != nullptr && after.type != DjtParser::LBRACE)) {
    return;
  }
  std::string_view between = sources_.text({value.span.file, value.span.end, after.span.begin});
  std::string word = name != nullptr ? name->name : call->name;
  std::vector<std::string> near = near_names(word, statement_keywords(), 1);
  bool misspelled = !near.empty() && !near[0].starts_with(word);
  if (misspelled && between.find('\n') == std::string_view::npos) {
    Span place = name != nullptr ? value.span : call->name_span;
    suspects_.push_back({place, word, near[0]});
  }
}

}  // namespace dj
