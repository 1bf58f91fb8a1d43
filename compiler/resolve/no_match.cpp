// SPDX-License-Identifier: Apache-2.0
// The error for a pattern that matches nothing: the true reason first, else near names.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/base/counted.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/nameless.h"
#include "compiler/resolve/missing_debug_info.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

constexpr size_t kShownObjects = 6;
constexpr size_t kMaxCandidates = 5000;

std::string join(const std::vector<std::string>& names, const char* between = ", ") {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : between) + name;
  }
  return text;
}

// "searched: t (10 functions), libc.so.6 (4494), ..."
std::string searched(ModuleSet& modules, const std::vector<size_t>& objects) {
  std::string text = "searched: ";
  for (size_t n = 0; n < objects.size() && n < kShownObjects; n++) {
    Module* file = modules.open(objects[n]);
    const size_t count = file ? file->function_count() : 0;
    text += fmt::format("{}{} ({})", n ? ", " : "", modules.base_name(objects[n]),
                        n == 0 ? counted(count, "function") : std::to_string(count));
  }
  if (objects.size() > kShownObjects) {
    text += fmt::format(" and {}", counted(objects.size() - kShownObjects, "more object"));
  }
  return text;
}

// The last components of a C++ or Rust name, as many as `wanted` has ("A::f" of "ns::A::f").
std::string_view as_qualified(std::string_view name, std::string_view wanted) {
  size_t mark = name.rfind("::");
  for (size_t at = wanted.find("::");
       at != std::string_view::npos && mark != std::string_view::npos;
       at = wanted.find("::", at + 2)) {
    mark = name.substr(0, mark).rfind("::");
  }
  return mark == std::string_view::npos ? name : name.substr(mark + 2);
}

// Names worth comparing: near in length, and the same at one of their ends. C++ symbols by as many
// components as were written.
std::vector<std::string> candidates(PointQuery& query, std::string_view wanted,
                                    const std::vector<size_t>& objects) {
  const size_t slack = std::max<size_t>(1, wanted.size() / 3);
  std::vector<std::string> names;
  for (size_t i : objects) {
    Module* file = query.modules.open(i);
    if (!file || wanted.empty()) {
      continue;
    }
    for (const Symbol& s : file->symbols().functions) {
      std::string_view name = plain_symbol(s.name);
      std::string demangled;
      if (is_mangled(name) && i == objects[0]) {
        demangled = person_name(name);
        name = as_qualified(demangled, wanted);
      }
      const size_t difference =
          name.size() > wanted.size() ? name.size() - wanted.size() : wanted.size() - name.size();
      if (name.empty() || difference > slack || is_fragment(s.name) ||
          (name.front() != wanted.front() && name.back() != wanted.back())) {
        continue;
      }
      names.emplace_back(name);
      if (names.size() >= kMaxCandidates) {
        break;
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void report_ifunc(PointQuery& query, Span span, const std::vector<size_t>& objects,
                  const SearchTally& tally, Severity severity) {
  const std::string& name = tally.ifuncs.front();
  const std::string message = fmt::format(
      "\"{}\" is an IFUNC: its code is chosen when the program starts, and this finds none of it",
      name);
  Diag& d = severity == Severity::Error ? query.diags.error("DJ3017", span, message)
                                        : query.diags.warning("DJ3017", span, message);
  std::vector<std::string> implementations;
  for (size_t i : objects) {
    Module* file = query.modules.open(i);
    const Module::Found found =
        file ? file->find(NameMatcher("__" + name + "_*")) : Module::Found{};
    for (const CodeFunction& f : found.functions) {
      implementations.push_back(person_name(f.symbol));
    }
  }
  if (!implementations.empty()) {
    implementations.resize(std::min<size_t>(implementations.size(), 12));
    d.notes.push_back("it may be one of: " + join(implementations));
    d.help = fmt::format("probe all of them: func(\"__{}_*\")", name);
  }
}

namespace {

std::string text_of(const LineRange& lines) {
  if (lines.relative) {
    return fmt::format("+{}", lines.first);
  }
  if (lines.last == UINT32_MAX) {
    return ":*";
  }
  return lines.first == lines.last ? fmt::format(":{}", lines.first)
                                   : fmt::format(":{}-{}", lines.first, lines.last);
}

// The function is there, its label, copy or callee is not.
void report_missing(PointQuery& query, Span span, const SearchTally& tally) {
  const ast::Component& last = query.point.components.back();
  const bool named = std::holds_alternative<std::string>(last.argument);
  Diag& d = query.diags.error("DJ3018", named ? last.argument_span : span, tally.missing);
  std::vector<std::string> known = tally.known;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (named) {
    d.suggest(near_names(query.text(last), known));
  }
  if (known.empty()) {
    return;
  }
  known.resize(std::min<size_t>(known.size(), 12));
  d.notes.push_back("there is: " + join(known));
}

void report_line(PointQuery& query, const FunctionPattern& pattern, Span span,
                 const SearchTally& tally) {
  Diag& d =
      query.diags.error("DJ3007", span,
                        fmt::format("no code for {}{}{}", pattern.file, text_of(*pattern.line),
                                    pattern.name == "*" ? "" : " in " + pattern.name + "()"));
  std::vector<uint32_t> lines = tally.nearest_lines;
  std::sort(lines.begin(), lines.end(), [&](uint32_t a, uint32_t b) {
    return std::abs(int64_t{a} - pattern.line->first) < std::abs(int64_t{b} - pattern.line->first);
  });
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::vector<std::string> shown;
  for (size_t i = 0; i < lines.size() && i < 2; i++) {
    shown.push_back(std::to_string(lines[i]));
  }
  if (!shown.empty()) {
    d.help = (shown.size() == 1 ? "nearest line with code: " : "nearest lines with code: ") +
             join(shown, " and ");
  } else {
    d.notes.push_back("no source file of that name has code there");
  }
}

bool is_inlined(PointQuery& query, const FunctionPattern& pattern,
                const std::vector<size_t>& objects) {
  const NameMatcher matcher = pattern.matcher();
  return !matcher.is_wild() && std::any_of(objects.begin(), objects.end(), [&](size_t i) {
    Module* file = query.modules.open(i);
    return file && file->debug_info() && !file->debug_info()->inlined(matcher).empty();
  });
}

}  // namespace

namespace {

// "f@V1, f@@V2": the versions of the name that there are.
std::string versions_of(PointQuery& query, const FunctionPattern& pattern,
                        const std::vector<size_t>& objects) {
  std::vector<std::string> versions;
  for (size_t i : objects) {
    Module* file = query.modules.open(i);
    if (!file || has_wildcard(pattern.name)) continue;
    for (const CodeFunction& f : file->find(NameMatcher(pattern.name)).functions) {
      const std::string version = file->version_at(f.begin, f.symbol);
      if (!version.empty()) versions.push_back(fmt::format("{}@{}", pattern.name, version));
    }
  }
  return join(versions);
}

// The object of that name; null: it is none of these.
Module* object_called(PointQuery& query, const std::vector<size_t>& objects,
                      const std::string& name) {
  for (size_t i : objects) {
    Module* file = query.modules.base_name(i) == name ? query.modules.open(i) : nullptr;
    if (file) return file;
  }
  return nullptr;
}

// The point names no object, so it means those of the process that djtap has traced first.
bool means_first_program(PointQuery& query, const FunctionPattern& pattern) {
  const ast::Component* process = query.component("process");
  const bool has_name = process && std::holds_alternative<std::string>(process->argument);
  return query.modules.has_target() && !query.modules.is_kernel() && !has_name &&
         query.component("library") == nullptr && pattern.object.empty();
}

// The point that means functions of that name in the same objects.
std::string point_of_functions(PointQuery& query, const FunctionPattern& pattern,
                               const std::string& name) {
  if (query.modules.is_kernel()) return fmt::format("kernel.function(\"{}\")", name);
  const ast::Component *process = query.component("process"), *library = query.component("library");
  if (process == nullptr && pattern.object.empty()) return fmt::format("func(\"{}\")", name);
  if (process == nullptr) return fmt::format("func(\"{}!{}\")", pattern.object, name);
  std::string point = "process";
  if (std::holds_alternative<std::string>(process->argument))
    point += fmt::format("(\"{}\")", query.text(*process));
  if (library != nullptr) point += fmt::format(".library(\"{}\")", query.text(*library));
  return point + fmt::format(".function(\"{}\")", name);
}

// No function has the name: what is near it, and where else to look.
void report_no_function(PointQuery& query, const FunctionPattern& pattern, Span span,
                        const std::vector<size_t>& objects) {
  const std::string where = objects.size() == 1
                                ? query.modules.base_name(objects[0])
                                : fmt::format("the target's {} objects", objects.size());
  const bool has_version = pattern.file.starts_with('@');
  const std::string source = pattern.file.empty() || has_version ? "" : " of " + pattern.file;
  const std::string version = has_version ? "@" + pattern.file : "";
  Diag& d = query.diags.error(
      "DJ3004", span,
      fmt::format("no function{} matches \"{}{}\" in {}", source, pattern.name, version, where));
  d.notes.push_back(searched(query.modules, objects));
  const std::string versions = pattern.file.empty() ? "" : versions_of(query, pattern, objects);
  if (!versions.empty()) {
    d.notes.push_back("there is: " + versions);
    return;
  }
  for (size_t i : objects) {
    Module* file = query.modules.open(i);
    if (!file || file->symbols().complete || i != objects[0]) continue;
    const bool searched_all = may_mean_nameless(pattern.name) && file->function_count() == 0;
    d.notes.push_back(query.modules.base_name(i) +
                      (searched_all ? " is stripped, and .eh_frame knows no functions of it either"
                                    : " is stripped: what it does not export is called by its "
                                      "address (\"0x*\")"));
  }
  const auto lacks = std::find_if(objects.begin(), objects.end(), [&](size_t i) {
    Module* file = query.modules.open(i);
    return file && !file->symbols().complete;
  });
  if (lacks != objects.end()) {
    const std::string package = where_to_get_debug_info(*query.modules.open(*lacks), query.diags);
    if (!package.empty()) d.notes.push_back(package);
  }
  if (!pattern.line && is_inlined(query, pattern, objects)) {
    d.notes.push_back("it is inlined wherever it is called, and such copies have no entry or exit");
    d.help = fmt::format("probe the copies: func(\"{}\").inline", pattern.name);
    return;
  }
  if (pattern.object.empty() && query.modules.is_in_kernel(pattern.name)) {
    d.help = fmt::format("the kernel has it: kernel.function(\"{}\")", pattern.name);
    return;
  }
  d.suggest(near_names(pattern.name, candidates(query, pattern.name, objects)));
  if (pattern.name.starts_with("0x")) return;  // it is an address
  const bool has_near = !d.help.empty(), needs_process = means_first_program(query, pattern);
  if (needs_process && query.modules.may_execute())
    d.notes.push_back(fmt::format(
        "if a program that the target executes has it: process(\"/path/program\").function(\"{}\")",
        pattern.name));
  if (std::ranges::none_of(objects, [&](size_t i) {
        Module* file = query.modules.open(i);
        return file && file->function_count() > 0;
      }))
    return;
  const std::string first = pattern.name.substr(0, pattern.is_wild() ? 0 : 1);
  const std::string point = point_of_functions(query, pattern, first + "*");
  d.help +=
      fmt::format("{}list with{} -l '{}'{}", has_near ? "  " : "", needs_process ? "" : ": djtap",
                  point, needs_process ? " in place of the script" : "");
}

}  // namespace

void report_nothing(PointQuery& query, const FunctionPattern& pattern, Span span,
                    const std::vector<size_t>& objects, const SearchTally& tally) {
  if (!tally.refused.empty()) {
    query.diags.error("DJ3009", span, "refused to probe " + tally.refused.front());
    return;
  }
  if (means_vdso(pattern.name)) {
    report_vdso(pattern.name, span, query.diags);
    return;
  }
  if (!tally.ifuncs.empty()) {
    report_ifunc(query, span, objects, tally, Severity::Error);
    return;
  }
  if (!tally.missing.empty()) {
    report_missing(query, span, tally);
    return;
  }
  if (!tally.without_debug_info.empty()) {
    Diag& d =
        query.diags.error("DJ3010", span,
                          fmt::format("source lines are not known: {} has no debug info (DWARF)",
                                      tally.without_debug_info.front()));
    Module* file = object_called(query, objects, tally.without_debug_info.front());
    help_to_debug_info(query.diags, file);
    const std::string versions = versions_of(query, pattern, objects);
    if (!versions.empty()) d.notes.push_back("of versions there is: " + versions);
    return;
  }
  bool function_exists = tally.has_copies;
  for (size_t i : objects) {
    Module* file = pattern.line ? query.modules.open(i) : nullptr;
    function_exists = function_exists || (file && !file->find(pattern.matcher()).functions.empty());
  }
  if (function_exists) {
    report_line(query, pattern, span, tally);
    return;
  }
  report_no_function(query, pattern, span, objects);
}

}  // namespace dj
