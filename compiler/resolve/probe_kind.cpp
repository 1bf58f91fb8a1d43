// SPDX-License-Identifier: Apache-2.0
// Matches probe points against the forms of all kinds, and explains the ones that match none.
#include "compiler/resolve/probe_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/pattern.h"

namespace dj {

namespace {

// SystemTap's families of probe points that are not about a process, as far as djtap has no form
// of them.
constexpr std::string_view kOfKernel[] = {"kernel", "module", "kprobe", "netfilter",
                                          "perf",   "procfs", "input",  "swap"};

// What "<function>", "<kernel>" and "<process>" at the front of a form stand for.
constexpr const char* kProcesses[] = {"process", "process(s)", "process.library(s)",
                                      "process(s).library(s)"};
constexpr const char* kKernels[] = {"kernel", "module(s)", "kprobe", "kprobe.module(s)"};

std::vector<std::string> spelled_out(std::string_view form) {
  if (!form.starts_with('<')) {
    return {std::string(form)};
  }
  const bool kernel = form.starts_with("<kernel>");
  const bool functions = form.starts_with("<function>");
  const std::string rest(form.substr(form.find('>') + 1));
  std::vector<std::string> forms;
  if (kernel) {
    for (const char* part : kKernels) {
      forms.push_back(part + (".function(s)" + rest));
    }
    return forms;
  }
  for (const char* process : kProcesses) {
    forms.push_back(process + std::string(functions ? ".function(s)" : "") + rest);
  }
  if (functions) {
    forms.push_back("func(s)" + rest);
  }
  return forms;
}

// One component of a form: "function", 's'. argument 0: none.
struct FormPart {
  std::string name;
  char argument = 0;
};

std::vector<FormPart> parts_of(std::string_view form) {
  std::vector<FormPart> parts;
  while (!form.empty()) {
    const size_t dot = form.find('.');
    std::string_view part = form.substr(0, dot);
    const size_t open = part.find('(');
    parts.push_back({std::string(part.substr(0, open)),
                     open == std::string_view::npos ? '\0' : part[open + 1]});
    form = dot == std::string_view::npos ? "" : form.substr(dot + 1);
  }
  return parts;
}

char argument_of(const ast::Component& c) {
  return std::holds_alternative<std::string>(c.argument) ? 's'
         : std::holds_alternative<int64_t>(c.argument)   ? 'n'
                                                         : '\0';
}

// Whether the parts are what the components mean; `meant` becomes them, under the parts' names.
bool matches(std::span<const ast::Component> components, std::span<const FormPart> parts,
             std::vector<ast::Component>& meant) {
  if (components.empty() || parts.empty()) {
    return components.empty() && parts.empty();
  }
  const ast::Component& c = components.front();
  const auto takes = [&](const std::string& pattern, char argument) {
    return glob_match(pattern, parts.front().name) && argument == parts.front().argument;
  };
  const size_t before = meant.size();
  meant.push_back(c);
  meant.back().name = parts.front().name;
  if (takes(c.name, argument_of(c)) && matches(components.subspan(1), parts.subspan(1), meant)) {
    return true;
  }
  const size_t across = c.name.find("**");
  if (across != std::string::npos && takes(c.name.substr(0, across + 1), 0)) {
    std::vector<ast::Component> rest(components.begin(), components.end());
    rest.front().name.erase(0, across);
    meant.resize(before + 1);
    meant.back().argument = std::monostate();
    if (matches(rest, parts.subspan(1), meant)) {
      return true;
    }
  }
  meant.resize(before);
  return false;
}

struct Candidate {
  const ProbeKind* kind;
  std::vector<FormPart> parts;
};

std::vector<Candidate> spell_out_forms() {
  std::vector<Candidate> forms;
  for (std::span<const ProbeKind> kinds :
       {function_kinds(), inside_kinds(), address_kinds(), kernel_kinds(), mark_kinds(),
        plt_kinds(), statement_kinds(), syscall_kinds(), thread_kinds(), lifecycle_kinds(),
        timer_kinds()}) {
    for (const ProbeKind& kind : kinds) {
      for (const std::string& form : spelled_out(kind.form)) {
        forms.push_back({&kind, parts_of(form)});
      }
    }
  }
  return forms;
}

// A script such as `probe syscall.*` asks for some hundred points, once for each program.
const std::vector<Candidate>& all_forms() {
  static const std::vector<Candidate> forms = spell_out_forms();
  return forms;
}

using Forms = std::vector<const Candidate*>;

// Names that forms have at this depth, each once.
std::vector<std::string> names_at(const Forms& forms, size_t depth) {
  std::vector<std::string> names;
  for (const Candidate* c : forms) {
    if (depth < c->parts.size()) {
      std::string name = c->parts[depth].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

const ProbeKind* unknown_name(const ast::ProbePoint& point, size_t depth, const Forms& forms,
                              Diags& diags) {
  const ast::Component& c = point.components[depth];
  const std::vector<std::string> valid = names_at(forms, depth);
  std::string before;
  for (size_t i = 0; i < depth; i++) {
    before += (i ? "." : "") + point.components[i].name;
  }
  const std::string message =
      depth == 0      ? fmt::format("there is no probe point \"{}\"", c.name)
      : valid.empty() ? fmt::format("nothing can follow {} here, but \".{}\" does", before, c.name)
                      : fmt::format("{} has no \".{}\"", before, c.name);
  Diag& d = diags.error("DJ3001", c.name_span, message);
  if (!valid.empty()) {
    d.notes.push_back((depth == 0 ? "probe points begin with: " : "valid here: ") + listed(valid));
  }
  d.suggest(near_names(c.name, valid));
  return nullptr;
}

const char* argument_text(char argument) {
  return argument == 's' ? "a string" : argument == 'n' ? "a number" : "no argument";
}

// What timer.UNIT(n) counts.
std::string_view timer_unit(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
      {"s", "seconds"},         {"sec", "seconds"},      {"ms", "milliseconds"},
      {"msec", "milliseconds"}, {"us", "microseconds"},  {"usec", "microseconds"},
      {"ns", "nanoseconds"},    {"nsec", "nanoseconds"}, {"jiffies", "hundredths of a second"}};
  for (auto [unit, text] : kUnits) {
    if (unit == name) return text;
  }
  return "runs per second";
}

const ProbeKind* wrong_argument(const ast::ProbePoint& point, size_t depth, const Forms& same_name,
                                Diags& diags) {
  const ast::Component& c = point.components[depth];
  std::string wanted;
  for (char argument : {'s', 'n', '\0'}) {
    for (const Candidate* form : same_name) {
      if (form->parts[depth].argument == argument) {
        wanted += (wanted.empty() ? "" : " or ") + std::string(argument_text(argument));
        break;
      }
    }
  }
  const bool timer = depth == 1 && point.components[0].name == "timer";
  if (timer && wanted == "a number" && !has_wildcard(c.name)) {
    wanted = "a number of " + std::string(timer_unit(c.name));
  }
  std::string path;
  for (size_t i = 0; i <= depth; i++) {
    path += (i ? "." : "") + point.components[i].name;
  }
  const bool has = argument_of(c) != 0;
  diags.error("DJ3002", has ? c.argument_span : c.name_span,
              fmt::format("{} takes {}, got {}", path, wanted.empty() ? "something else" : wanted,
                          has ? argument_text(argument_of(c)) : "none"));
  return nullptr;
}

bool is_of_kernel(const ast::ProbePoint& point) {
  return std::find(std::begin(kOfKernel), std::end(kOfKernel), point.components[0].name) !=
         std::end(kOfKernel);
}

const ProbeKind* not_built_yet(const ast::ProbePoint& point, Diags& diags) {
  diags
      .error("DJ3003", point.span,
             fmt::format("djtap has no such probes of the kernel yet: {}", to_string(point)))
      .help =
      "kernel.function(\"name\") is a function of the kernel, and process.syscall a "
      "process's calls of the kernel";
  return nullptr;
}

}  // namespace

const ast::Component* PointQuery::component(std::string_view name) const {
  for (const ast::Component& c : point.components) {
    if (c.name == name) {
      return &c;
    }
  }
  return nullptr;
}

const ProbeKind* find_kind(const ast::ProbePoint& point, Diags& diags) {
  Forms forms;
  for (const Candidate& form : all_forms()) forms.push_back(&form);
  // An alias that the tapsets at hand do not have, or a form of another version: where the point
  // may be missing, so may its kind.
  const bool may_miss = point.optional || point.sufficient;
  for (size_t depth = 0; depth < point.components.size(); depth++) {
    const ast::Component& c = point.components[depth];
    Forms same_name, same;
    for (const Candidate* form : forms) {
      if (depth < form->parts.size() && glob_match(c.name, form->parts[depth].name)) {
        same_name.push_back(form);
        if (form->parts[depth].argument == argument_of(c)) {
          same.push_back(form);
        }
      }
    }
    if (same.empty() && may_miss) {
      return nullptr;
    }
    if (same_name.empty() && is_of_kernel(point)) {
      return not_built_yet(point, diags);
    }
    if (same_name.empty()) {
      return unknown_name(point, depth, forms, diags);
    }
    if (same.empty()) {
      return wrong_argument(point, depth, same_name, diags);
    }
    forms = std::move(same);
  }
  for (const Candidate* form : forms) {
    if (form->parts.size() == point.components.size()) return form->kind;
  }
  if (may_miss) {
    return nullptr;
  }
  const std::vector<std::string> valid = names_at(forms, point.components.size());
  Diag& d = diags.error("DJ3001", point.span,
                        fmt::format("the probe point {} is not complete", to_string(point)));
  d.notes.push_back("must be followed by one of: " + listed(valid));
  return nullptr;
}

std::vector<ast::ProbePoint> points_meant(const ast::ProbePoint& point) {
  std::vector<ast::ProbePoint> points;
  for (const Candidate& form : all_forms()) {
    if (form.parts.back().name == "latency") {
      continue;  // one more probe at .return, with a body of its own
    }
    ast::ProbePoint meant = point;
    meant.wild = true;
    meant.components.clear();
    if (matches(point.components, form.parts, meant.components)) {
      points.push_back(std::move(meant));
    }
  }
  return points;
}

std::vector<std::string> forms_matching(const ast::ProbePoint& point) {
  std::vector<std::string> texts;
  for (const Candidate& form : all_forms()) {
    if (form.parts.size() != point.components.size()) {
      continue;
    }
    std::string text;
    bool same = true;
    for (size_t i = 0; i < form.parts.size() && same; i++) {
      const FormPart& part = form.parts[i];
      const ast::Component& c = point.components[i];
      const bool wild = c.name.find_first_of("*?") != std::string::npos;
      same = glob_match(c.name, part.name) && (wild || part.argument == argument_of(c));
      text +=
          (i ? "." : "") + part.name + (part.argument ? fmt::format("({})", part.argument) : "");
    }
    if (same) {
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::string to_string(const ast::ProbePoint& point) {
  std::string text;
  for (const ast::Component& c : point.components) {
    text += (text.empty() ? "" : ".") + c.name;
    if (const auto* s = std::get_if<std::string>(&c.argument)) {
      text += "(\"" + *s + "\")";
    } else if (const auto* n = std::get_if<int64_t>(&c.argument)) {
      text += "(" + std::to_string(*n) + ")";
    }
  }
  return text;
}

}  // namespace dj
