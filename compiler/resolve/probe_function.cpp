// SPDX-License-Identifier: Apache-2.0
// Probe kinds func("..") and process..function(".."): entries and returns of functions.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/source_path.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void find_entry(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, name_component(query), SiteKind::Entry, meaning);
}

void find_return(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, name_component(query), SiteKind::Return, meaning);
}

// Without a line these are entries, and inlined copies where there are no entries; with one, the
// line's first instruction.
void find_place(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& name = name_component(query);
  PointQuery first{query.point, query.modules, query.diags, true};
  const size_t errors = query.diags.error_count();
  const bool found = find_sites(first, name, SiteKind::Statement, meaning);
  // Optional points of one library are those of tapsets: most are there, or mean nothing, and to
  // look through all debug info would take longer than all else.
  const bool cheap = query.modules.first_new() > 0 ||
                     (query.optional && query.text(name).find('!') != std::string::npos);
  if (found || cheap || query.diags.error_count() != errors) {
    return;
  }
  // Nothing of that name is called, but it may have been inlined everywhere.
  if (!has_wildcard(query.text(name)) && query.text(name).find('@') == std::string::npos) {
    find_inlined_copies(first, meaning);
    if (!meaning.sites.empty()) {
      return;
    }
  }
  if (!query.optional) {  // says what is not there, of a list of lines perhaps not all
    meaning.sites.clear();
    find_sites(query, name, SiteKind::Statement, meaning);
  }
}

}  // namespace

void find_exported(PointQuery& query, PointMeaning& meaning) {
  const char* const how = query.modules.is_kernel() ? "not by EXPORT_SYMBOL" : "not in .dynsym";
  auto search = [how](size_t index, Module& file, const FunctionPattern& pattern,
                      std::vector<Site>& sites, SearchTally& tally) {
    const size_t before = sites.size();
    search_functions(index, file, pattern, SiteKind::Entry, sites, tally);
    if (const size_t found = sites.size() - before) {
      tally.missing = found == 1
                          ? fmt::format("{} is not exported ({})", function_of(sites.back()), how)
                          : fmt::format("none of {} functions is exported", found);
    }
    std::erase_if(sites, [&](const Site& site) {
      return site.module == index && !file.exports(site.function_begin);
    });
  };
  find_in_objects(query, name_component(query), search, meaning);
}

namespace {

// Of scripts, compiler/tapset/latency.h makes .return; here it is listed.
void find_latency(PointQuery& query, PointMeaning& meaning) {
  find_return(query, meaning);
  for (Site& site : meaning.sites)
    site.listed = fmt::format("function(\"{}\").latency", function_of(site));
}

constexpr ProbeKind kFunctionKinds[] = {
    {"<function>", find_place},         {"<function>.call", find_entry},
    {"<function>.return", find_return}, {"<function>.exported", find_exported},
    {"<function>.nearest", find_place}, {"<function>.latency", find_latency},
};

}  // namespace

const ast::Component& name_component(PointQuery& query) {
  const ast::Component* c = query.component("func");
  return c ? *c : *query.component("function");
}

std::span<const ProbeKind> function_kinds() { return kFunctionKinds; }

namespace {

// Behind the '@' stands a version of the name, or a source file.
struct Meant {
  Module::Found found;
  bool of_file = false;  // only what that file declares
};

Meant find_meant(Module& file, const NameMatcher& matcher, const std::string& behind) {
  Meant meant{file.find(matcher, behind)};
  const bool is_found = !meant.found.functions.empty() || !meant.found.ifuncs.empty();
  if (behind.empty() || is_found || behind.front() == '@') return meant;
  return {file.find(matcher), true};
}

}  // namespace

void search_functions(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                      std::vector<Site>& sites, SearchTally& tally) {
  const NameMatcher matcher = pattern.matcher();
  const auto [found, of_file] = find_meant(file, matcher, pattern.file);
  tally.ifuncs.insert(tally.ifuncs.end(), found.ifuncs.begin(), found.ifuncs.end());
  if (of_file && !found.functions.empty() && !file.debug_info()) {
    tally.without_debug_info.push_back(file.base_name());
    return;
  }
  // A large program's sites are moved once at most, not at each doubling.
  if (sites.size() + found.functions.size() > sites.capacity())
    sites.reserve(std::max(2 * sites.size(), sites.size() + found.functions.size()));
  for (const CodeFunction& function : found.functions) {
    std::optional<SourcePlace> place;
    if (of_file) {
      place = file.debug_info()->declaration(function.begin);
      const bool is_whole = pattern.file.starts_with('/');
      const std::string folder =
          is_whole ? file.debug_info()->compile_folder(function.begin) : std::string();
      if (!place || !source_path_matches(pattern.file, place->file, folder)) {
        continue;
      }
    }
    if (const char* reason = refusal(file.elf(), function.symbol, function.begin)) {
      tally.refused.push_back(fmt::format("{}: {}", file.name_of(function), reason));
      continue;
    }
    if (matcher.is_wild() && file.is_untraced(function.begin)) continue;
    const bool part = file.is_part(function);
    if (part && matcher.is_wild() && !matcher.is_dotted()) continue;
    if (part && kind == SiteKind::Return) {
      tally.refused.push_back(
          fmt::format("{}: a part of another function, whose returns are its", function.symbol));
      continue;
    }
    // Any register and the flags may hold values there, as in the middle of a function.
    const SiteKind there = part && kind == SiteKind::Entry ? SiteKind::Statement : kind;
    Site site = function_site(module, file, function, there);
    if (place) {
      site.file = place->file;
      site.line = place->line;
    }
    sites.push_back(std::move(site));
  }
}

}  // namespace dj
