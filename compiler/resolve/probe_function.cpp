// Probe kinds func("..") and process..function(".."): entries and returns of functions.
#include <fmt/format.h>

#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

const ast::Component& name_component(PointQuery& query) {
  const ast::Component* c = query.component("func");
  return c ? *c : *query.component("function");
}

void find_entry(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, name_component(query), SiteKind::Entry, meaning);
}

void find_return(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, name_component(query), SiteKind::Return, meaning);
}

// Without a line these are entries; with one, the line's first instruction.
void find_place(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, name_component(query), SiteKind::Statement, meaning);
}

constexpr ProbeKind kKinds[] = {
    {"func(s)", find_place},
    {"func(s).call", find_entry},
    {"func(s).return", find_return},
    {"process.function(s)", find_place},
    {"process.function(s).call", find_entry},
    {"process.function(s).return", find_return},
    {"process(s).function(s)", find_place},
    {"process(s).function(s).call", find_entry},
    {"process(s).function(s).return", find_return},
    {"process.library(s).function(s)", find_place},
    {"process.library(s).function(s).call", find_entry},
    {"process.library(s).function(s).return", find_return},
    {"process(s).library(s).function(s)", find_place},
    {"process(s).library(s).function(s).call", find_entry},
    {"process(s).library(s).function(s).return", find_return},
};

}  // namespace

std::span<const ProbeKind> function_kinds() { return kKinds; }

void search_functions(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                      std::vector<Site>& sites, SearchTally& tally) {
  Module::Found found = file.find(NameMatcher(pattern.name));
  tally.ifuncs.insert(tally.ifuncs.end(), found.ifuncs.begin(), found.ifuncs.end());
  if (!pattern.file.empty() && !found.functions.empty() && !file.debug_info()) {
    tally.without_debug_info.push_back(file.base_name());
    return;
  }
  for (const CodeFunction& function : found.functions) {
    std::optional<SourcePlace> place;
    if (!pattern.file.empty()) {
      place = file.debug_info()->declaration(function.begin);
      if (!place || !path_matches(pattern.file, place->file)) {
        continue;
      }
    }
    if (const char* reason = refusal(file.elf(), function.symbol, function.begin)) {
      tally.refused.push_back(fmt::format("{}: {}", function.name, reason));
      continue;
    }
    Site site = function_site(module, file, function, kind);
    if (place) {
      site.file = place->file;
      site.line = place->line;
    }
    sites.push_back(std::move(site));
  }
}

}  // namespace dj
