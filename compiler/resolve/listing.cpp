// SPDX-License-Identifier: Apache-2.0
// Prints matching probe points the way SystemTap's -l and -L do.
#include "compiler/resolve/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/object_point.h"
#include "compiler/base/printable.h"
#include "compiler/resolve/kernel_variables.h"
#include "compiler/resolve/module_set.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/resolve/site_search.h"
#include "compiler/resolve/site_targets.h"
#include "compiler/resolve/telling_names.h"

namespace dj {

namespace {

// With more sites than this -l does not open debug info just to show source lines.
constexpr size_t kSourceLinesUpTo = 1000;

std::string variables_text(DebugInfo& info, const Site& site) {
  std::string text;
  const bool returned = site.call && site.call->returned_from != 0;
  if (site.kind == SiteKind::Return || returned) {
    const std::string type = info.return_type(returned ? site.call->callee : site.function_begin);
    text += type.empty() ? "" : " $return:" + type;
  }
  for (const Variable& v : info.variables(place_of(site))) {
    text += fmt::format(" ${}:{}", v.name, v.type);
  }
  return text;
}

// As a string of a script has it.
std::string quoted(const std::string& name) {
  std::string text;
  for (char c : name) text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return text;
}

// `version`: which one of its name the function is; empty: no other is listed.
std::string line_of(const Site& site, Module& file, const std::string& version, bool with_source,
                    const std::string& variables) {
  DebugInfo* info = with_source ? file.debug_info() : nullptr;
  std::string name = quoted(site.function);
  if (!version.empty()) {
    name += "@" + version;
  } else if (!site.file.empty()) {
    name += fmt::format("@{}:{}", site.file.str(), site.line);
  } else if (info) {
    if (std::optional<SourcePlace> place = info->declaration(site.function_begin)) {
      name += fmt::format("@{}:{}", place->file, place->line);
    }
  }
  const char* kind = site.kind == SiteKind::Statement ? "statement" : "function";
  const char* suffix = site.kind == SiteKind::Return ? ".return" : "";
  std::string line =
      site.listed.empty()
          ? fmt::format("{}.{}(\"{}\"){}", object_point(file.path()), kind, name, suffix)
          : fmt::format("{}.{}", object_point(file.path()), site.listed.str());
  return printable(line + variables) + "\n";
}

// How many of the sites are of functions of that name, by object and name.
using NameCounts = std::map<std::pair<ModuleId, std::string_view>, size_t>;
NameCounts count_names(const std::vector<Site>& sites) {
  NameCounts counts;
  for (const Site& site : sites) counts[{site.module, site.symbol}]++;
  return counts;
}

std::vector<std::string> forms_with_wildcards(const ast::ProbePoint& point) {
  const bool wild =
      std::any_of(point.components.begin(), point.components.end(),
                  [](const ast::Component& c) { return c.name.find('*') != std::string::npos; });
  return wild ? forms_matching(point) : std::vector<std::string>();
}

}  // namespace

std::string list(const std::vector<ast::ProbePoint>& points, const TargetFiles& files,
                 bool with_variables, Diags& diags) {
  ModuleSet modules(files);
  KernelVariables of_kernel(files);
  const auto variables_of = [&](const Site& site, Module& file) -> std::string {
    if (files.is_kernel) return of_kernel.text(site, file);
    DebugInfo* info = file.debug_info();
    return info ? variables_text(*info, site) : "";
  };
  std::string out;
  for (const ast::ProbePoint& point : points) {
    const std::vector<std::string> forms = forms_with_wildcards(point);
    for (const std::string& form : forms) {
      out += form + "\n";
    }
    const ProbeKind* kind = forms.empty() ? find_kind(point, diags) : nullptr;
    if (!kind) {
      continue;
    }
    PointQuery query{point, modules, diags, point.optional};
    PointMeaning meaning;
    kind->find(query, meaning);
    if (meaning.host) {
      out += printable(meaning.host->text) + "\n";
      continue;  // its sites are those of forked children
    }
    name_functions(meaning.sites, [&](ModuleId id) -> Module& { return *modules.open(id); });
    distinguish(meaning.sites, modules);
    const bool with_source = with_variables || meaning.sites.size() <= kSourceLinesUpTo;
    const NameCounts counts = count_names(meaning.sites);
    for (const Site& site : meaning.sites) {
      Module& file = *modules.open(site.module);
      const bool is_one_of_several = counts.at({site.module, site.symbol}) > 1;
      out += line_of(site, file,
                     is_one_of_several ? file.version_at(site.function_begin, site.symbol) : "",
                     with_source, with_variables ? variables_of(site, file) : "");
    }
  }
  if (!points.empty()) of_kernel.warn_if_none(points.front().span, diags);
  return out;
}

bool is_somewhere(const std::vector<ast::ProbePoint>& points, const TargetFiles& files) {
  ModuleSet modules(files);
  return std::any_of(points.begin(), points.end(), [&](const ast::ProbePoint& point) {
    Diags nobody;
    PointMeaning meaning;
    const ProbeKind* kind = find_kind(point, nobody);
    if (!kind || !files.has_target) return kind != nullptr;
    PointQuery query{point, modules, nobody, true};
    kind->find(query, meaning);
    return meaning.host || !meaning.sites.empty();
  });
}

}  // namespace dj
