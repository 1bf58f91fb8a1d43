// SPDX-License-Identifier: Apache-2.0
// Expressions as text, with the fewest parentheses that keep their meaning.
#include <fmt/format.h>

#include "compiler/stages/print_ast.h"

namespace dj {

namespace ast {
namespace {

// How tightly an expression binds; grammar/Djt.g4 has the same order.
enum Level {
  kAssign,
  kTernary,
  kLogOr,
  kLogAnd,
  kOr,
  kXor,
  kAnd,
  kIn,
  kMatch,
  kCompare,
  kShift,
  kConcat,
  kAdd,
  kMul,
  kUnary,
  kOperand,
};

Level level(BinOp op) {
  switch (op) {
    case BinOp::LogOr:
      return kLogOr;
    case BinOp::LogAnd:
      return kLogAnd;
    case BinOp::Or:
      return kOr;
    case BinOp::Xor:
      return kXor;
    case BinOp::And:
      return kAnd;
    case BinOp::Lt:
    case BinOp::Gt:
    case BinOp::Le:
    case BinOp::Ge:
    case BinOp::Eq:
    case BinOp::Ne:
      return kCompare;
    case BinOp::Shl:
    case BinOp::Shr:
    case BinOp::UShr:
      return kShift;
    case BinOp::Concat:
      return kConcat;
    case BinOp::Add:
    case BinOp::Sub:
      return kAdd;
    case BinOp::Mul:
    case BinOp::Div:
    case BinOp::Mod:
      return kMul;
  }
  return kOperand;
}

struct ExprPrinter {
  // One overload per node: its text and how tightly it binds.
  struct Text {
    std::string text;
    Level level = kOperand;
  };

  static Text node(const Number& n) {
    // A negative value was written as its wrapped form: there are no negative literals.
    return {fmt::format("{}", static_cast<uint64_t>(n.value))};
  }
  static Text node(const Fraction& n) {
    const std::string text = fmt::format("{}", n.value);  // the shortest that reads back the same
    return {text.find_first_of(".e") == std::string::npos ? text + ".0" : text};
  }
  static Text node(const String& n) { return {quote(n.value)}; }
  static Text node(const Name& n) { return {n.name}; }
  static Text node(const Index& n) { return {n.name + "[" + list(n.keys) + "]"}; }
  static Text node(const Call& n) { return {n.name + "(" + list(n.args) + ")"}; }
  static Text node(const At& n) { return {"@" + n.op + "(" + list(n.args) + ")"}; }

  static Text node(const Target& n) {
    const bool whole = n.address_of || n.pretty != 0;  // steps from there are no steps of its path
    return {(n.address_of ? "&$" : "$") + n.name + steps(n.path, n.pretty),
            whole ? kUnary : kOperand};
  }

  static Text node(const Member& n) {
    bool element = !n.path.empty() && n.path.front().kind == Access::Element;
    bool plain = std::holds_alternative<Name>(n.base->node) && element;
    std::string base = plain ? "(" + print(*n.base) + ")" : at(*n.base, kOperand);
    return {(n.address_of ? "&" : "") + base + steps(n.path, n.pretty)};
  }

  static Text node(const Match& n) {
    return {at(*n.text, kMatch) + (n.negated ? " !~ " : " =~ ") + quote(n.pattern), kMatch};
  }

  static std::string steps(const std::vector<Access>& path, int pretty) {
    std::string text;
    for (const Access& access : path) {
      text += access.kind == Access::Field ? "->" + access.field
                                           : "[" + at(*access.index, kAssign) + "]";
    }
    return text + std::string(static_cast<size_t>(pretty), '$');
  }

  static Text node(const Unary& n) {
    char sign = "-+!~"[static_cast<int>(n.op)];
    std::string operand = at(*n.operand, kUnary);
    // "- -a" and "! ~a" must not become other operators.
    bool apart = operand[0] == '-' || operand[0] == '+' || operand[0] == '~';
    return {sign + (apart ? " " + operand : operand), kUnary};
  }

  static Text node(const Binary& n) {
    Level mine = level(n.op);
    return {at(*n.left, mine) + " " + spelling(n.op) + " " + at(*n.right, above(mine)), mine};
  }

  static Text node(const Ternary& n) {
    return {at(*n.condition, kLogOr) + " ? " + at(*n.then, kAssign) + " : " +
                at(*n.otherwise, kTernary),
            kTernary};
  }

  static Text node(const Assign& n) {
    std::string op = n.stat_add ? "<<<" : n.op ? std::string(spelling(*n.op)) + "=" : "=";
    return {at(*n.left, kTernary) + " " + op + " " + at(*n.right, kAssign), kAssign};
  }

  static Text node(const Crement& n) {
    std::string sign = n.delta > 0 ? "++" : "--";
    std::string operand = at(*n.operand, kOperand);
    return {n.prefix ? sign + operand : operand + sign, kUnary};
  }

  static Text node(const In& n) {
    bool bare = n.keys.size() == 1 && n.keys[0];
    std::string keys = bare ? at(*n.keys[0], kIn) : "[" + list(n.keys) + "]";
    return {keys + " in " + (n.histogram ? print(*n.histogram) : n.array), kIn};
  }

  static Level above(Level level) { return static_cast<Level>(level + 1); }

  // The expression's text, in parentheses when it binds less tightly than `wanted`.
  static std::string at(const Expr& expr, Level wanted) {
    Text printed = std::visit([](const auto& n) { return node(n); }, expr.node);
    return printed.level < wanted ? "(" + printed.text + ")" : printed.text;
  }

  static std::string list(const std::vector<ExprPtr>& exprs) {
    std::string text;
    for (const ExprPtr& expr : exprs) {
      text += (text.empty() ? "" : ", ") + (expr ? at(*expr, kAssign) : "*");
    }
    return text;
  }
};

}  // namespace
}  // namespace ast

const char* spelling(ast::BinOp op) {
  switch (op) {
    case ast::BinOp::Add:
      return "+";
    case ast::BinOp::Sub:
      return "-";
    case ast::BinOp::Mul:
      return "*";
    case ast::BinOp::Div:
      return "/";
    case ast::BinOp::Mod:
      return "%";
    case ast::BinOp::Shl:
      return "<<";
    case ast::BinOp::Shr:
      return ">>";
    case ast::BinOp::UShr:
      return ">>>";
    case ast::BinOp::And:
      return "&";
    case ast::BinOp::Or:
      return "|";
    case ast::BinOp::Xor:
      return "^";
    case ast::BinOp::Concat:
      return ".";
    case ast::BinOp::Lt:
      return "<";
    case ast::BinOp::Gt:
      return ">";
    case ast::BinOp::Le:
      return "<=";
    case ast::BinOp::Ge:
      return ">=";
    case ast::BinOp::Eq:
      return "==";
    case ast::BinOp::Ne:
      return "!=";
    case ast::BinOp::LogAnd:
      return "&&";
    case ast::BinOp::LogOr:
      return "||";
  }
  return "?";
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        // Three octal digits always: a digit behind them stays a digit.
        out += static_cast<unsigned char>(c) < 32 || c == 127
                   ? fmt::format("\\{:03o}", static_cast<unsigned char>(c))
                   : std::string(1, c);
    }
  }
  return out + "\"";
}

std::string print_keys(const std::vector<ast::ExprPtr>& keys) {
  return ast::ExprPrinter::list(keys);
}

std::string print(const ast::Expr& expr) { return ast::ExprPrinter::at(expr, ast::kAssign); }

}  // namespace dj
