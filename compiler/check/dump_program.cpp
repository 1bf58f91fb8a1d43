// SPDX-License-Identifier: Apache-2.0
// Prints the typed tree, one line per statement.
#include "compiler/check/dump_program.h"

#include <fmt/format.h>

#include <array>

#include "compiler/check/overload.h"
#include "compiler/check/stat_ops.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

constexpr std::array<std::string_view, 20> kBinary = {"+",   "-",  "*",  "/",  "%",  "<<", ">>",
                                                      ">>>", "&",  "|",  "^",  ".",  "<",  ">",
                                                      "<=",  ">=", "==", "!=", "&&", "||"};
constexpr std::array<std::string_view, 4> kUnary = {"-", "+", "!", "~"};
constexpr std::array<std::string_view, 6> kTypes = {"unknown", "int",  "str",
                                                    "stat",    "void", "double"};
constexpr std::array<std::string_view, 4> kStorage = {"counter", "scalar", "stats", "array"};

std::string_view name_of(Type type) { return kTypes[static_cast<size_t>(type)]; }
std::string_view name_of(ast::BinOp op) { return kBinary[static_cast<size_t>(op)]; }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string target_text(const TargetExpr& target);

std::string base_text(const TargetExpr& target) {
  const std::string module = target.module.empty() ? "" : ", " + quoted(target.module);
  const char* sign = target.is_signed ? "s" : "u";
  switch (target.base) {
    case TargetExpr::Variable:
      break;
    case TargetExpr::Var:
      return fmt::format("@var({}{})", quoted(target.name), module);
    case TargetExpr::Cast:
      if (!target.like.empty())
        return fmt::format("@cast(?, as {}{})", target_text(target.like.front()), module);
      return fmt::format("@cast(?, {}{})", quoted(target.name), module);
    case TargetExpr::Register:
      return fmt::format("register({}, {}{})", target.name, sign, target.bytes * 8);
    case TargetExpr::Argument:
      return fmt::format("argument({}, {}{})", target.index, sign, target.bytes * 8);
    case TargetExpr::Call:
      return fmt::format("@entry({}())", target.name);
  }
  return "$" + target.name;
}

std::string target_text(const TargetExpr& target) {
  std::string out = (target.at_exit ? "@exit " : "") + std::string(target.address_of ? "&" : "") +
                    base_text(target);
  for (const TargetStep& step : target.path) {
    switch (step.kind) {
      case TargetStep::Field:
        out += "->" + step.field;
        break;
      case TargetStep::ConstElement:
        out += fmt::format("[{}]", step.index);
        break;
      case TargetStep::ArgElement:
        out += "[?]";
        break;
    }
  }
  return out + std::string(target.pretty, '$');
}

// Writes the expressions and statements of one body.
struct BodyPrinter {
  const Program& program;
  const Frame& frame;
  const Probe* probe;
  std::string& out;
  int depth = 1;

  std::string list(const std::vector<ExprPtr>& exprs) const {
    std::string text;
    for (const ExprPtr& each : exprs)
      text += (text.empty() ? "" : ", ") + (each ? expr(*each) : "*");
    return text;
  }
  const TargetExpr& target(TargetId id) const {
    return probe ? probe->targets[id] : program.function_targets[id];
  }
  std::string global(GlobalId id) const { return "@" + program.globals[id].name; }
  std::string local(LocalId id) const { return "%" + frame.locals[id].name; }

  std::string assign(const Assign& a) const {
    std::string_view op = a.op ? name_of(*a.op) : "";
    return fmt::format("({} {}= {})", expr(*a.place), op, expr(*a.value));
  }

  // "f {", its statements a step further in, "}".
  std::string inlined(const Inlined& i) const {
    std::string body;
    BodyPrinter{program, frame, probe, body, depth + 1}.stmt(*i.body);
    const std::string end(static_cast<size_t>(depth) * 2, ' ');
    return fmt::format("{} {{\n{}{}}}", program.functions[i.function].name, body, end);
  }

  std::string histogram(const PrintHist& h) const {
    const std::string bits = h.bits == 0 ? "" : fmt::format(", {}", int{h.bits});
    const char* word = h.linear ? "hist_linear" : h.bits == 0 ? "hist_log" : "hist";
    return fmt::format("{}{}({}{})", h.printed ? "" : "sprint ", word, expr(*h.place), bits);
  }

  std::string expr(const Expr& e) const {
    return std::visit(
        Overload{
            [](const IntLit& n) { return fmt::format("{}", n.value); },
            [](const DoubleLit& n) { return fmt::format("{}", n.value); },
            [&](const ToDouble& d) { return fmt::format("double({})", expr(*d.operand)); },
            [](const StrLit& s) { return quoted(s.value); },
            [&](const LocalRef& l) { return local(l.local); },
            [&](const GlobalRef& g) { return global(g.global); },
            [&](const ElementRef& r) {
              return fmt::format("{}[{}]", global(r.array), list(r.keys));
            },
            [&](const Unary& u) {
              return fmt::format("({}{})", kUnary[static_cast<size_t>(u.op)], expr(*u.operand));
            },
            [&](const Binary& b) {
              return fmt::format("({} {} {})", expr(*b.left), name_of(b.op), expr(*b.right));
            },
            [&](const Ternary& t) {
              return fmt::format("({} ? {} : {})", expr(*t.condition), expr(*t.then),
                                 expr(*t.otherwise));
            },
            [&](const Assign& a) { return assign(a); },
            [&](const Crement& c) {
              std::string_view word = c.delta > 0 ? "++" : "--";
              std::string place = expr(*c.place);
              return c.prefix ? fmt::format("({}{})", word, place)
                              : fmt::format("({}{})", place, word);
            },
            [&](const CallFunction& c) {
              return fmt::format("{}({})", program.functions[c.function].name, list(c.args));
            },
            [&](const Inlined& i) { return inlined(i); },
            [&](const CallBuiltin& c) {
              return fmt::format("{}({})", builtins()[c.builtin].name, list(c.args));
            },
            [&](const InArray& i) {
              return fmt::format("([{}] in {})", list(i.keys), global(i.array));
            },
            [&](const StatRead& s) {
              return fmt::format("@{}({})", stat_op_name(s.op), expr(*s.place));
            },
            [&](const TargetRef& t) {
              std::string text = target_text(target(t.target));
              return t.args.empty() ? text : fmt::format("{}{{{}}}", text, list(t.args));
            },
            [&](const Defined& d) {
              return fmt::format("@defined({})", target_text(target(d.target)));
            },
            [&](const Print& p) {
              std::string_view word = p.printed ? "print" : "sprint";
              return fmt::format("{}#{}({})", word, p.format, list(p.args));
            },
            [&](const PrintHist& h) { return histogram(h); },
            [&](const HistBucket& h) {
              return fmt::format("{}({})[{}]", h.linear ? "hist_linear" : "hist_log",
                                 expr(*h.place), expr(*h.index));
            },
            [&](const Match& m) {
              return fmt::format("({} {} regex of {} bytes)", expr(*m.text),
                                 m.negated ? "!~" : "=~", m.program.size());
            },
            [&](const Take& t) { return fmt::format("snapshot({})", expr(*t.place)); },
            [](const Caught&) { return std::string("caught"); },
        },
        e.node);
  }

  void line(const std::string& text) {
    out += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void nested(const Stmt& s) {
    ++depth;
    stmt(s);
    --depth;
  }

  void loop(const Foreach& f) {
    std::string text = "foreach ";
    if (f.value) text += local(*f.value) + " = ";
    text += "[";
    for (size_t i = 0; i < f.keys.size(); ++i) text += (i == 0 ? "" : ", ") + local(f.keys[i]);
    text += "] in " + global(f.array);
    if (!f.slice.empty()) text += "[" + list(f.slice) + "]";
    switch (f.sort) {
      case Foreach::Sort::None:
        break;
      case Foreach::Sort::Key:
        text += fmt::format(" by key {}", f.sort_key + 1);
        break;
      case Foreach::Sort::Value:
        text += " by value";
        break;
      case Foreach::Sort::Stat:
        text += fmt::format(" by @{}", stat_op_name(f.sort_stat));
        break;
    }
    if (f.sort != Foreach::Sort::None) text += f.descending ? " descending" : " ascending";
    if (f.limit) text += " limit " + expr(*f.limit);
    line(text);
    nested(*f.body);
  }

  void stmt(const Stmt& s) {
    std::visit(Overload{
                   [&](const Block& b) {
                     for (const StmtPtr& each : b.body) stmt(*each);
                   },
                   [&](const ExprStmt& x) { line(expr(*x.expr)); },
                   [&](const StatAdd& a) { line(expr(*a.place) + " <<< " + expr(*a.value)); },
                   [&](const If& i) {
                     line("if " + expr(*i.condition));
                     nested(*i.then);
                     if (!i.otherwise) return;
                     line("else");
                     nested(*i.otherwise);
                   },
                   [&](const Loop& l) {
                     std::string text = "loop";
                     if (l.condition) text += " while " + expr(*l.condition);
                     if (l.step) text += " step " + expr(*l.step);
                     line(text);
                     nested(*l.body);
                   },
                   [&](const Foreach& f) { loop(f); },
                   [&](const Break&) { line("break"); },
                   [&](const Continue&) { line("continue"); },
                   [&](const Next&) { line("next"); },
                   [&](const Return& r) { line(r.value ? "return " + expr(*r.value) : "return"); },
                   [&](const DeleteElement& d) { line("delete " + expr(*d.element)); },
                   [&](const DeleteGlobal& d) { line("delete " + global(d.global)); },
                   [&](const Snapshot& t) {
                     line(fmt::format("snapshot {} to {}", global(t.from), global(t.to)));
                     nested(*t.body);
                   },
                   [&](const Try& t) {
                     line("try");
                     nested(*t.body);
                     line("catch");
                     nested(*t.handler);
                   },
               },
               s.node);
  }
};

std::string dump_global(const Global& global) {
  std::string out = fmt::format("global @{}", global.name);
  if (!global.keys.empty()) {
    out += "[";
    for (size_t i = 0; i < global.keys.size(); ++i) {
      out += fmt::format("{}{}", i ? ", " : "", name_of(global.keys[i]));
    }
    out += "]";
  }
  out +=
      fmt::format(": {} {}", name_of(global.value), kStorage[static_cast<size_t>(global.storage)]);
  if (const int64_t* number = std::get_if<int64_t>(&global.init)) {
    out += fmt::format(" = {}", *number);
  }
  if (const double* number = std::get_if<double>(&global.init)) {
    out += fmt::format(" = {}", *number);
  }
  if (const std::string* text = std::get_if<std::string>(&global.init)) {
    out += " = " + quoted(*text);
  }
  if (global.array.capacity != 0) out += fmt::format(" capacity {}", global.array.capacity);
  if (global.array.wrap) out += " wrap";
  if (global.array.sums) out += " sums";
  if (global.asked.variance) out += " variance";
  if (global.asked.percentiles) out += " percentiles";
  if (global.asked.hist_log) out += " hist_log";
  if (global.asked.hist_linear) {
    const Linear& l = *global.asked.hist_linear;
    out += fmt::format(" hist_linear {}..{} by {}", l.start, l.stop, l.step);
  }
  if (global.by == Global::By::Use) out += " implicit";
  if (global.ever_written && !global.ever_read) out += " shown-at-exit";
  return out + "\n";
}

std::string dump_locals(const Frame& frame, size_t from) {
  std::string out;
  for (size_t i = from; i < frame.locals.size(); ++i) {
    out += fmt::format("  local %{}: {}\n", frame.locals[i].name, name_of(frame.locals[i].type));
  }
  return out;
}

std::string dump_point(const ast::ProbePoint& point) {
  std::string out;
  for (const ast::Component& component : point.components) {
    out += (out.empty() ? "" : ".") + component.name;
    if (const int64_t* number = std::get_if<int64_t>(&component.argument)) {
      out += fmt::format("({})", *number);
    }
    if (const std::string* text = std::get_if<std::string>(&component.argument)) {
      out += "(" + quoted(*text) + ")";
    }
  }
  if (point.optional) out += "?";
  if (point.sufficient) out += "!";
  return out;
}

}  // namespace

std::string dump(const Program& program) {
  std::string out;
  for (const Global& global : program.globals) out += dump_global(global);
  for (size_t i = 0; i < program.formats.size(); ++i) {
    out += fmt::format("format #{} {}", i, quoted(program.formats[i].text));
    for (Type type : program.formats[i].arguments) out += fmt::format(" {}", name_of(type));
    out += "\n";
  }
  for (const TargetExpr& target : program.function_targets)
    out += "target of functions " + target_text(target) + "\n";
  for (const Function& function : program.functions) {
    out += "function " + function.name + "(";
    for (uint32_t i = 0; i < function.param_count; ++i) {
      out += fmt::format("{}%{}: {}", i ? ", " : "", function.frame.locals[i].name,
                         name_of(function.frame.locals[i].type));
    }
    out += fmt::format("): {}\n", name_of(function.result)) +
           dump_locals(function.frame, function.param_count);
    BodyPrinter{program, function.frame, nullptr, out}.stmt(*function.body);
  }
  for (const Probe& probe : program.probes) {
    out += "probe ";
    for (size_t i = 0; i < probe.points.size(); ++i) {
      out += (i ? ", " : "") + dump_point(probe.points[i]);
    }
    out += probe.empty ? " (empty)\n" : "\n";
    for (const TargetExpr& target : probe.targets) out += "  target " + target_text(target) + "\n";
    out += dump_locals(probe.frame, 0);
    BodyPrinter{program, probe.frame, &probe, out}.stmt(*probe.body);
  }
  return out;
}

}  // namespace dj
