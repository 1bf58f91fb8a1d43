// SPDX-License-Identifier: Apache-2.0
// Expressions: operators. Their operands are in build_operands.cpp.
#include "compiler/parse/build.h"

namespace dj {

using namespace ast;

namespace {

UnOp unary_op(size_t type) {
  switch (type) {
    case DjtParser::SIGN_MINUS:
      return UnOp::Neg;
    case DjtParser::SIGN_PLUS:
      return UnOp::Plus;
    case DjtParser::NOT:
      return UnOp::Not;
    default:
      return UnOp::BitNot;
  }
}

BinOp binary_op(size_t type) {
  switch (type) {
    case DjtParser::STAR:
      return BinOp::Mul;
    case DjtParser::SLASH:
      return BinOp::Div;
    case DjtParser::PERCENT:
      return BinOp::Mod;
    case DjtParser::PLUS:
      return BinOp::Add;
    case DjtParser::MINUS:
      return BinOp::Sub;
    case DjtParser::DOT:
      return BinOp::Concat;
    case DjtParser::SHL:
      return BinOp::Shl;
    case DjtParser::SHR:
      return BinOp::Shr;
    case DjtParser::USHR:
      return BinOp::UShr;
    case DjtParser::LT:
      return BinOp::Lt;
    case DjtParser::GT:
      return BinOp::Gt;
    case DjtParser::LE:
      return BinOp::Le;
    case DjtParser::GE:
      return BinOp::Ge;
    case DjtParser::EQ:
      return BinOp::Eq;
    case DjtParser::NE:
      return BinOp::Ne;
    case DjtParser::AMP:
      return BinOp::And;
    case DjtParser::CARET:
      return BinOp::Xor;
    case DjtParser::PIPE:
      return BinOp::Or;
    case DjtParser::AND:
      return BinOp::LogAnd;
    default:
      return BinOp::LogOr;
  }
}

// The operator inside an assignment: '+' of "+="; nothing for '=' and '<<<'.
std::optional<BinOp> assign_op(size_t type) {
  switch (type) {
    case DjtParser::ADD_ASSIGN:
      return BinOp::Add;
    case DjtParser::SUB_ASSIGN:
      return BinOp::Sub;
    case DjtParser::MUL_ASSIGN:
      return BinOp::Mul;
    case DjtParser::DIV_ASSIGN:
      return BinOp::Div;
    case DjtParser::MOD_ASSIGN:
      return BinOp::Mod;
    case DjtParser::SHL_ASSIGN:
      return BinOp::Shl;
    case DjtParser::SHR_ASSIGN:
      return BinOp::Shr;
    case DjtParser::AND_ASSIGN:
      return BinOp::And;
    case DjtParser::XOR_ASSIGN:
      return BinOp::Xor;
    case DjtParser::OR_ASSIGN:
      return BinOp::Or;
    case DjtParser::CONCAT_ASSIGN:
      return BinOp::Concat;
    default:
      return std::nullopt;
  }
}

}  // namespace

ExprPtr Builder::expr(DjtParser::ExprContext* ctx) {
  ctx->accept(this);
  return std::move(expr_);
}

std::vector<ExprPtr> Builder::exprs(DjtParser::ExprsContext* ctx) {
  std::vector<ExprPtr> list;
  if (ctx != nullptr) {
    for (DjtParser::ExprContext* each : ctx->expr()) {
      list.push_back(expr(each));
    }
  }
  return list;
}

template <typename Node>
Builder::Any Builder::expression(antlr4::ParserRuleContext* ctx, Node node) {
  expr_ = std::make_unique<Expr>();
  expr_->span = span(ctx);
  expr_->node = std::move(node);
  return {};
}

void Builder::check_lvalue(const Expr& target, const char* code, const std::string& message) {
  bool ok = std::holds_alternative<Name>(target.node) ||
            std::holds_alternative<Index>(target.node) ||
            std::holds_alternative<Target>(target.node);
  // A malformed number was reported already.
  bool reported = !diags_.all().empty() && diags_.all().back().span.file == target.span.file &&
                  diags_.all().back().span.begin >= target.span.begin &&
                  diags_.all().back().span.end <= target.span.end;
  if (!ok && !reported) {
    diags_.error(code, target.span, message).help =
        "only a variable or an array element can be changed";
  }
}

Builder::Any Builder::visitPrefixCrement(DjtParser::PrefixCrementContext* ctx) {
  ExprPtr operand = postfix(ctx->postfix());
  bool up = ctx->op->getType() == DjtParser::PRE_INC;
  check_lvalue(*operand, "DJ1020", std::string(up ? "++" : "--") + " needs a variable behind it");
  return expression(ctx, Crement{true, up ? 1 : -1, std::move(operand)});
}

Builder::Any Builder::visitOperand(DjtParser::OperandContext* ctx) {
  ExprPtr operand = postfix(ctx->postfix());
  if (ctx->op == nullptr) {
    expr_ = std::move(operand);
    return {};
  }
  bool up = ctx->op->getType() == DjtParser::INC;
  check_lvalue(*operand, "DJ1020", std::string(up ? "++" : "--") + " needs a variable before it");
  return expression(ctx, Crement{false, up ? 1 : -1, std::move(operand)});
}

Builder::Any Builder::visitTupleIn(DjtParser::TupleInContext* ctx) {
  In made;
  index_keys(ctx->indexKey(), made.keys);
  array_name(ctx->arrayName(), made);
  return expression(ctx, std::move(made));
}

Builder::Any Builder::visitSingleIn(DjtParser::SingleInContext* ctx) {
  In made;
  made.keys.push_back(expr(ctx->expr()));
  array_name(ctx->arrayName(), made);
  return expression(ctx, std::move(made));
}

Builder::Any Builder::visitUnary(DjtParser::UnaryContext* ctx) {
  return expression(ctx, Unary{unary_op(ctx->op->getType()), expr(ctx->expr())});
}

Builder::Any Builder::visitBinary(DjtParser::BinaryContext* ctx) {
  Binary made;
  made.op = binary_op(ctx->op->getType());
  made.op_span = span(ctx->op);
  made.left = expr(ctx->left);
  made.right = expr(ctx->right);
  return expression(ctx, std::move(made));
}

Builder::Any Builder::visitRegex(DjtParser::RegexContext* ctx) {
  Match made;
  made.negated = ctx->op->getType() == DjtParser::NO_MATCH;
  made.text = expr(ctx->expr());
  made.pattern = string_value(ctx->string());
  made.pattern_span = span(ctx->string());
  return expression(ctx, std::move(made));
}

Builder::Any Builder::visitTernary(DjtParser::TernaryContext* ctx) {
  Ternary made;
  made.condition = expr(ctx->expr(0));
  made.then = expr(ctx->expr(1));
  made.otherwise = expr(ctx->expr(2));
  return expression(ctx, std::move(made));
}

namespace {

// Is the expression, or what it is a part of, what an if, a loop or `?` asks?
bool is_condition(antlr4::ParserRuleContext* ctx) {
  antlr4::tree::ParseTree* part = ctx;
  for (antlr4::tree::ParseTree* whole = ctx->parent; whole != nullptr; whole = whole->parent) {
    if (auto* asks = dynamic_cast<DjtParser::IfStmtContext*>(whole)) return part == asks->condition;
    if (auto* asks = dynamic_cast<DjtParser::ForStmtContext*>(whole)) return part == asks->cond;
    if (auto* asks = dynamic_cast<DjtParser::TernaryContext*>(whole); asks && part == asks->expr(0))
      return true;
    if (dynamic_cast<DjtParser::WhileStmtContext*>(whole) != nullptr) return true;
    if (dynamic_cast<DjtParser::StmtContext*>(whole) != nullptr) return false;
    part = whole;
  }
  return false;
}

// Behind the ':' stands a whole expression, as in SystemTap: c ? a : b = 1 sets b. Where `left` is
// such a choice, it becomes its last value, and the whole goes to `choice`; where that value stood.
ExprPtr* take_last_choice(DjtParser::ExprContext* ctx, ExprPtr& left, ExprPtr& choice) {
  auto* asks = dynamic_cast<DjtParser::TernaryContext*>(ctx);
  if (asks == nullptr) return nullptr;
  choice = std::move(left);
  ExprPtr* last = &choice;
  for (; asks != nullptr; asks = dynamic_cast<DjtParser::TernaryContext*>(asks->expr(2)))
    last = &std::get<Ternary>((*last)->node).otherwise;
  left = std::move(*last);
  return last;
}

}  // namespace

Builder::Any Builder::visitAssign(DjtParser::AssignContext* ctx) {
  Assign made;
  made.op = assign_op(ctx->op->getType());
  made.stat_add = ctx->op->getType() == DjtParser::STAT_ADD;
  made.op_span = span(ctx->op);
  made.left = expr(ctx->left);
  made.right = expr(ctx->right);
  ExprPtr choice;
  ExprPtr* assigned = take_last_choice(ctx->left, made.left, choice);
  const size_t before = diags_.error_count();
  check_lvalue(*made.left, "DJ1017", "this cannot be assigned to");
  const bool plain = ctx->op->getType() == DjtParser::ASSIGN;
  if (diags_.error_count() != before && plain && is_condition(ctx)) {
    diags_.last().help = "write `==` to compare";
    diags_.last().fixes.push_back({made.op_span, "=="});
  }
  if (choice == nullptr) return expression(ctx, std::move(made));
  Span inner = made.left->span;
  inner.end = std::max(inner.end, made.right->span.end);
  *assigned = std::make_unique<Expr>(Expr{inner, std::move(made)});
  choice->span = span(ctx);
  expr_ = std::move(choice);
  return {};
}

}  // namespace dj
