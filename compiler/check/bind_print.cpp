// SPDX-License-Identifier: Apache-2.0
// Binds the print family. The text of a print without a format waits for the types of its
// arguments.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/check/forms.h"
#include "compiler/check/stat_ops.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

// printed: to the output, else a string is made. format: the first argument is a format.
// delimited: the first argument stands between the others. newline: at the end. built_in: what it
// returns for the arguments is printed.
struct PrintKind {
  std::string_view name;
  bool printed, format, delimited, newline;
  std::string_view built_in = {};
};
constexpr std::array<PrintKind, 21> kPrints = {{
    {"print", true, false, false, false},
    {"printf", true, true, false, false},
    {"println", true, false, false, true},
    {"printd", true, false, true, false},
    {"printdln", true, false, true, true},
    {"sprint", false, false, false, false},
    {"sprintf", false, true, false, false},
    {"sprintln", false, false, false, true},
    {"sprintd", false, false, true, false},
    {"sprintdln", false, false, true, true},
    {"print_ubacktrace", true, false, false, false, "sprint_ubacktrace"},
    {"print_ubacktrace_brief", true, false, false, false, "sprint_ubacktrace_brief"},
    {"print_ubacktrace_fileline", true, false, false, false, "sprint_ubacktrace_fileline"},
    {"print_backtrace_fileline", true, false, false, false, "sprint_ubacktrace_fileline"},
    {"log", true, false, false, true},
    {"print_backtrace", true, false, false, false, "sprint_backtrace"},
    {"print_stack", true, false, false, false, "sprint_stack"},
    {"print_syms", true, false, false, false, "sprint_syms"},
    {"print_usyms", true, false, false, false, "sprint_usyms"},
    {"print_ustack", true, false, false, false, "sprint_ustack"},
    {"print_regs", true, false, false, false},
}};

constexpr int64_t kMaxLinearBuckets = 1000;

// The arguments that an histogram's operator takes.
struct HistogramKind {
  std::string_view name;
  size_t arguments;
  const char* form;
};
constexpr HistogramKind kHistogramKinds[] = {
    {"hist_log", 1, "@hist_log(aggregate)"},
    {"hist_linear", 4, "@hist_linear(aggregate, lowest, highest, width)"},
    {"hist", 2, "@hist(aggregate, bits)"},
};

const PrintKind* find_print(std::string_view name) {
  const PrintKind* found = std::find_if(kPrints.begin(), kPrints.end(),
                                        [&](const PrintKind& kind) { return kind.name == name; });
  return found == kPrints.end() ? nullptr : found;
}

std::optional<int64_t> literal_number(const ast::Expr& e) {
  if (const ast::Number* number = std::get_if<ast::Number>(&e.node)) return number->value;
  const ast::Unary* unary = std::get_if<ast::Unary>(&e.node);
  if (unary == nullptr || unary->op != ast::UnOp::Neg) return std::nullopt;
  const ast::Number* number = std::get_if<ast::Number>(&unary->operand->node);
  if (number == nullptr) return std::nullopt;
  return static_cast<int64_t>(0 - static_cast<uint64_t>(number->value));
}

bool too_many_values(Binder& binder, const std::vector<ExprPtr>& args) {
  if (args.size() <= abi::kMaxEventArgs) return false;
  binder.diags
      .error(
          "DJ2205", args[abi::kMaxEventArgs]->span,
          fmt::format("{} values, but one print takes at most {}", args.size(), abi::kMaxEventArgs))
      .help = "join some of them first: sprint(...) and sprintf(...) are one value";
  return true;
}

// The addresses of %m and %M become texts.
void read_memory(std::vector<Conversion>& conversions, std::vector<ExprPtr>& args) {
  for (size_t i = 0; i < conversions.size(); ++i) {
    Conversion& conversion = conversions[i];
    if (conversion.memory == 0) continue;
    const Span span = args[i]->span;
    std::vector<ExprPtr> given;
    given.push_back(std::move(args[i]));
    if (conversion.star_bytes) {
      given.push_back(std::move(args[i - 1]));
      args.erase(args.begin() + static_cast<ptrdiff_t>(i - 1));
      conversions.erase(conversions.begin() + static_cast<ptrdiff_t>(i - 1));
      --i;
    } else {
      given.push_back(make(IntLit{conversion.bytes}, span, Type::Int));
    }
    const bool hex = conversions[i].memory == 'M';
    args[i] =
        make(CallBuiltin{*find_builtin(hex ? "user_bytes_hex" : "user_bytes"), std::move(given)},
             span, Type::Str);
    conversions[i].type = Type::Str;
  }
}

ExprPtr formatted(Binder& binder, const ast::Call& c, bool printed, Span span) {
  const ast::String* format = c.args.empty() ? nullptr : std::get_if<ast::String>(&c.args[0]->node);
  std::vector<ExprPtr> args;
  for (size_t i = 1; i < c.args.size(); ++i) args.push_back(binder.expr(*c.args[i]));
  if (format == nullptr) {
    Diag& diag =
        binder.diags.error("DJ2201", c.args.empty() ? c.name_span : c.args[0]->span,
                           fmt::format("the format of `{}` must be a literal string", c.name));
    diag.help = fmt::format("write {}(\"%s\", ...)", c.name);
    return poison(span);
  }
  Span literal = c.args[0]->span;
  SplitFormat split = split_format(format->value, literal, binder.diags);
  if (!split.ok) return poison(span);
  if (args.size() < split.conversions.size()) {
    const Conversion& missing = split.conversions[args.size()];
    binder.diags.error("DJ2203", missing.span,
                       fmt::format("no argument for `{}`: the format takes {}, got {}",
                                   missing.text, split.conversions.size(), args.size()));
    return poison(span);
  }
  if (args.size() > split.conversions.size()) {
    Diag& diag = binder.diags.error(
        "DJ2203", args[split.conversions.size()]->span,
        fmt::format("the format takes {} argument{}, got {}", split.conversions.size(),
                    split.conversions.size() == 1 ? "" : "s", args.size()));
    diag.labels.push_back({literal, "this format"});
    return poison(span);
  }
  read_memory(split.conversions, args);
  if (too_many_values(binder, args)) return poison(span);
  for (const Conversion& conversion : split.conversions)
    binder.notes.doubles |= conversion.type == Type::Double;
  FormatId id = static_cast<FormatId>(binder.program.formats.size());
  binder.program.formats.push_back({split.text, {}});
  ExprPtr e = make(Print{printed, id, std::move(args)}, span, printed ? Type::Void : Type::Str);
  binder.notes.prints.push_back({true, std::move(split.conversions), literal, "", ""});
  return e;
}

// The format waits for the types of the values.
ExprPtr print_values(Binder& binder, bool printed, PrintNote note, std::vector<ExprPtr> args,
                     Span span) {
  FormatId id = static_cast<FormatId>(binder.program.formats.size());
  binder.program.formats.push_back({});
  ExprPtr e = make(Print{printed, id, std::move(args)}, span, printed ? Type::Void : Type::Str);
  binder.notes.prints.push_back(std::move(note));
  return e;
}

}  // namespace

bool is_print_name(std::string_view name) { return find_print(name) != nullptr; }

std::vector<std::string> print_names() {
  std::vector<std::string> names;
  for (const PrintKind& kind : kPrints) names.emplace_back(kind.name);
  return names;
}

bool histogram_bounds(Binder& binder, const ast::At& a, Global& global) {
  std::array<int64_t, 3> bounds = {};
  for (size_t i = 0; i < bounds.size(); ++i) {
    std::optional<int64_t> value = literal_number(*a.args[i + 1]);
    if (!value) {
      binder.diags.error("DJ2106", a.args[i + 1]->span,
                         "the bounds of a histogram must be literal numbers");
      return false;
    }
    bounds[i] = *value;
  }
  Span span{a.op_span.file, a.args[1]->span.begin, a.args[3]->span.end};
  auto [start, stop, step] = bounds;
  uint64_t width = static_cast<uint64_t>(stop) - static_cast<uint64_t>(start);
  if (stop <= start || step <= 0 || width / static_cast<uint64_t>(step) >= kMaxLinearBuckets) {
    Diag& diag =
        binder.diags.error("DJ2106", span,
                           stop <= start ? "the upper bound must be greater than the lower"
                           : step <= 0   ? "the width of a bucket must be positive"
                                         : fmt::format("more than {} buckets", kMaxLinearBuckets));
    diag.notes.push_back("@hist_linear(aggregate, lowest, highest, width)");
    return false;
  }
  std::optional<Span>& first =
      binder.notes.facts.globals[static_cast<size_t>(&global - binder.program.globals.data())]
          .linear;
  if (global.asked.hist_linear) {
    const Linear& known = *global.asked.hist_linear;
    if (known.start == start && known.stop == stop && known.step == step) return true;
    Diag& diag = binder.diags.error(
        "DJ2106", span,
        fmt::format("`{}` has a linear histogram with other bounds already",
                    global.name.substr(0, global.name.find('@'))));  // also of "x@snapshot"
    diag.labels.push_back({*first, "first asked here"});
    return false;
  }
  global.asked.hist_linear = Linear{start, stop, step};
  first = span;
  return true;
}

// The number behind the comma of @hist(x, bits); nullopt: it is none (reported).
std::optional<uint8_t> histogram_bits(Binder& binder, const ast::At& a) {
  const std::optional<int64_t> bits = literal_number(*a.args[1]);
  if (bits && *bits >= 0 && *bits <= abi::kFineStepBits) return static_cast<uint8_t>(*bits);
  Diag& diag = binder.diags.error(
      "DJ2106", a.args[1]->span,
      fmt::format("the bits of @hist are a literal number from 0 to {}", abi::kFineStepBits));
  diag.notes.push_back("each power of two is shown in 2^bits parts");
  return std::nullopt;
}

ExprPtr bind_histogram(Binder& binder, const ast::At& a, Span at_span, Span span, bool printed) {
  const HistogramKind& kind = *std::find_if(std::begin(kHistogramKinds), std::end(kHistogramKinds),
                                            [&](const auto& each) { return each.name == a.op; });
  if (a.args.size() != kind.arguments) {
    Diag& diag =
        binder.diags.error("DJ2007", at_span,
                           fmt::format("`@{}` takes {} argument{}, got {}", a.op, kind.arguments,
                                       kind.arguments == 1 ? "" : "s", a.args.size()));
    diag.notes.push_back(kind.form);
    return poison(span);
  }
  ExprPtr where = bind_aggregate(binder, a, *a.args[0]);
  if (!where) return poison(span);
  const ElementRef* element = std::get_if<ElementRef>(&where->node);
  Global& global =
      binder.program
          .globals[element != nullptr ? element->array : std::get<GlobalRef>(where->node).global];
  std::optional<uint8_t> bits = 0;
  if (a.op == "hist_linear") {
    if (!histogram_bounds(binder, a, global)) return poison(span);
  } else if (a.op == "hist") {
    bits = histogram_bits(binder, a);
    if (!bits) return poison(span);
  }
  const bool linear = a.op == "hist_linear";
  global.asked.percentiles |= *bits > 0;
  global.asked.hist_log |= !linear && *bits == 0;
  return make(PrintHist{linear, std::move(where), *bits, printed}, span,
              printed ? Type::Void : Type::Str);
}

ExprPtr bind_print(Binder& binder, const ast::Call& c, Span span) {
  const PrintKind& kind = *find_print(c.name);
  if (c.name == "print_regs") return bind_print_registers(binder, c, span);
  if (kind.format) return formatted(binder, c, kind.printed, span);
  if (!kind.built_in.empty()) {
    std::vector<ExprPtr> text;
    text.push_back(call_builtin(binder, *find_builtin(kind.built_in), c, span));
    return print_values(binder, kind.printed, {}, std::move(text), span);
  }
  if (c.args.size() < (kind.delimited ? 3u : 1u) && c.name != "println" && c.name != "sprintln") {
    binder.diags.error(kind.delimited ? "DJ2204" : "DJ2007", span,
                       kind.delimited
                           ? fmt::format("`{}` takes a delimiter and at least 2 values", c.name)
                           : fmt::format("`{}` takes at least 1 value, got 0", c.name));
    return poison(span);
  }
  if (!kind.delimited && c.args.size() == 1) {
    const ast::At* a = std::get_if<ast::At>(&c.args[0]->node);
    if (a != nullptr && is_histogram(a->op))
      return bind_histogram(binder, *a, c.args[0]->span, span, kind.printed);
  }
  PrintNote note;
  note.ending = kind.newline ? "\n" : "";
  size_t first = 0;
  if (kind.delimited) {
    const ast::String* delimiter = std::get_if<ast::String>(&c.args[0]->node);
    if (delimiter == nullptr) {
      binder.diags.error("DJ2204", c.args[0]->span,
                         fmt::format("the delimiter of `{}` must be a literal string", c.name));
      return poison(span);
    }
    note.delimiter = delimiter->value;
    first = 1;
  }
  std::vector<ExprPtr> args;
  for (size_t i = first; i < c.args.size(); ++i) args.push_back(binder.expr(*c.args[i]));
  if (too_many_values(binder, args)) return poison(span);
  return print_values(binder, kind.printed, std::move(note), std::move(args), span);
}

}  // namespace dj
