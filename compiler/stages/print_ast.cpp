// SPDX-License-Identifier: Apache-2.0
// Statements and declarations as canonical text: two blanks per level, one statement per line.
#include "compiler/stages/print_ast.h"

#include <fmt/format.h>

namespace dj {

namespace ast {
namespace {

std::string indent(int depth) { return std::string(static_cast<size_t>(depth) * 2, ' '); }

// Prints statements at one depth. Each node() gives its lines without the first one's indentation
// and without the last one's newline.
struct StmtPrinter {
  int depth = 0;

  std::string node(const Block& n) const { return "{\n" + body(n.body) + indent(depth) + "}"; }
  std::string node(const Empty&) const { return ";"; }
  std::string node(const ExprStmt& n) const { return print(*n.expr); }
  std::string node(const Break&) const { return "break"; }
  std::string node(const Continue&) const { return "continue"; }
  std::string node(const Next&) const { return "next"; }
  std::string node(const Return& n) const {
    return n.value ? "return " + print(*n.value) : "return";
  }
  std::string node(const Delete& n) const { return "delete " + print(*n.what); }

  std::string node(const Try& n) const {
    return "try" + under(*n.body) + " catch" + (n.error.empty() ? "" : " (" + n.error + ")") +
           under(*n.handler);
  }

  std::string node(const If& n) const {
    std::string text = "if (" + print(*n.condition) + ")" + under(*n.then);
    if (n.otherwise) {
      bool block = std::holds_alternative<Block>(n.then->node);
      text += block ? " else" : "\n" + indent(depth) + "else";
      bool chain = std::holds_alternative<If>(n.otherwise->node);
      text += chain ? " " + here(*n.otherwise) : under(*n.otherwise);
    }
    return text;
  }

  std::string node(const While& n) const {
    return "while (" + print(*n.condition) + ")" + under(*n.body);
  }

  std::string node(const For& n) const {
    auto part = [](const ExprPtr& expr) { return expr ? print(*expr) : std::string(); };
    return fmt::format("for ({}; {}; {})", part(n.init), part(n.condition), part(n.step)) +
           under(*n.body);
  }

  std::string node(const Foreach& n) const {
    std::string keys;
    for (const LoopKey& k : n.keys) {
      keys += (keys.empty() ? "" : ", ") + key(k);
    }
    std::string text = "foreach (" + (n.value ? key(*n.value) + " = " : "");
    text += n.keys.size() == 1 ? keys : "[" + keys + "]";
    text += " in " + (n.histogram ? print(*n.histogram) : n.array);
    text += n.slice.empty() ? "" : "[" + print_keys(n.slice) + "]";
    text += (n.array_op.empty() ? "" : "@" + n.array_op) + std::string(sign(n.array_sort));
    text += n.limit ? " limit " + print(*n.limit) : "";
    return text + ")" + under(*n.body);
  }

  static const char* sign(int sort) { return sort > 0 ? "+" : sort < 0 ? "-" : ""; }
  static std::string key(const LoopKey& k) { return k.name + sign(k.sort); }

  std::string here(const Stmt& stmt) const {
    return std::visit([this](const auto& n) { return node(n); }, stmt.node);
  }

  // A statement that belongs to the line before: a block goes on in it, others get their own line.
  std::string under(const Stmt& stmt) const {
    if (std::holds_alternative<Block>(stmt.node)) {
      return " " + here(stmt);
    }
    return "\n" + indent(depth + 1) + StmtPrinter{depth + 1}.here(stmt);
  }

  // Whether `text` and a statement that begins with `next` would be read as one.
  static bool would_merge(const std::string& text, const std::string& next) {
    return text.back() != '}' && text.back() != ';' &&
           std::string("+-([&\";").find(next[0]) != std::string::npos;
  }

  std::string body(const std::vector<StmtPtr>& stmts) const {
    StmtPrinter inner{depth + 1};
    std::string out, last;
    for (const StmtPtr& stmt : stmts) {
      std::string text = inner.here(*stmt);
      bool bare_return = last.ends_with("return");
      if (!last.empty()) {
        out += indent(inner.depth) + last + (would_merge(last, text) || bare_return ? ";" : "");
        out += "\n";
      }
      last = std::move(text);
    }
    return last.empty() ? out : out + indent(inner.depth) + last + "\n";
  }
};

std::string print_global(const GlobalDecl& global) {
  std::string text = std::string(global.is_private ? "private " : "") + "global " + global.name;
  text += global.wrap ? "%" : "";
  text += global.capacity ? fmt::format("[{}]", *global.capacity) : "";
  if (global.init) {
    const Number* number = std::get_if<Number>(&global.init->node);
    text += " = " + (number ? fmt::format("{}", number->value) : print(*global.init));
  }
  return text + "\n";
}

std::string typed(const std::string& name, const std::string& type) {
  return type.empty() ? name : name + ":" + type;
}

std::string print_function(const FunctionDecl& function) {
  std::string params;
  for (const Param& param : function.params) {
    params += (params.empty() ? "" : ", ") + typed(param.name, param.type);
  }
  std::string priority = function.priority ? fmt::format(":{}", *function.priority) : "";
  return fmt::format("{}function {}({}){} {}\n", function.is_private ? "private " : "",
                     typed(function.name, function.type), params, priority,
                     StmtPrinter{}.here(*function.body));
}

std::string print_points(const std::vector<ProbePoint>& list) {
  std::string text;
  for (const ProbePoint& point : list) {
    text += (text.empty() ? "" : ", ") + print(point);
  }
  return text;
}

std::string print_probe(const Probe& probe) {
  return fmt::format("probe {} {}\n", print_points(probe.points), StmtPrinter{}.here(*probe.body));
}

std::string print_alias(const Alias& alias) {
  std::string text = "probe " + print_points(alias.names) + (alias.prologue ? " = " : " += ") +
                     print_points(alias.points) + " ";
  text += StmtPrinter{}.here(alias.prologue ? *alias.prologue : *alias.epilogue);
  if (alias.prologue && alias.epilogue) {
    text += ", " + StmtPrinter{}.here(*alias.epilogue);
  }
  return text + "\n";
}

}  // namespace
}  // namespace ast

std::string print(const ast::ProbePoint& point) {
  std::string text;
  for (const ast::Component& component : point.components) {
    text += (text.empty() ? "" : ".") + component.name;
    if (const auto* number = std::get_if<int64_t>(&component.argument)) {
      text += fmt::format("({})", *number);
    } else if (const auto* string = std::get_if<std::string>(&component.argument)) {
      text += "(" + quote(*string) + ")";
    }
  }
  text += std::string(point.optional ? "?" : "") + (point.sufficient ? "!" : "");
  return text + (point.condition ? " if (" + print(*point.condition) + ")" : "");
}

std::string print(const ast::Script& script) {
  std::string text;
  for (const ast::GlobalDecl& global : script.globals) {
    text += ast::print_global(global);
  }
  for (const ast::FunctionDecl& function : script.functions) {
    text += (text.empty() ? "" : "\n") + ast::print_function(function);
  }
  for (const ast::Alias& alias : script.aliases) {
    text += (text.empty() ? "" : "\n") + ast::print_alias(alias);
  }
  for (const ast::Probe& probe : script.probes) {
    text += (text.empty() ? "" : "\n") + ast::print_probe(probe);
  }
  return text;
}

}  // namespace dj
