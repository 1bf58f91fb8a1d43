// Probe kind process..statement("f@file:line"): the first instruction of a source line, in each
// function that has code for it.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void find_statement(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, *query.component("statement"), SiteKind::Statement, meaning);
}

constexpr ProbeKind kKinds[] = {
    {"process.statement(s)", find_statement},
    {"process(s).statement(s)", find_statement},
    {"process.library(s).statement(s)", find_statement},
    {"process(s).library(s).statement(s)", find_statement},
};

// The function of a sorted list that holds the address; null: none.
const CodeFunction* holder(const std::vector<CodeFunction>& functions, uint64_t address) {
  auto next = std::upper_bound(functions.begin(), functions.end(), address,
                               [](uint64_t a, const CodeFunction& f) { return a < f.begin; });
  if (next == functions.begin() || address >= std::prev(next)->end) {
    return nullptr;
  }
  return &*std::prev(next);
}

}  // namespace

std::span<const ProbeKind> statement_kinds() { return kKinds; }

void search_lines(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                  std::vector<Site>& sites, SearchTally& tally) {
  const NameMatcher matcher(pattern.name);
  const Module::Found found = file.find(matcher);
  if (found.functions.empty()) {
    return;
  }
  if (!file.debug_info()) {
    tally.without_debug_info.push_back(file.base_name());
    return;
  }
  std::vector<LineHit> hits;
  std::vector<uint32_t> nearest;
  if (matcher.is_wild()) {
    hits = file.debug_info()->line_addresses(pattern.file, *pattern.line, nearest);
  } else {
    for (const CodeFunction& f : found.functions) {
      const std::vector<LineHit> more =
          file.debug_info()->line_addresses(pattern.file, *pattern.line, f.begin, f.end, nearest);
      hits.insert(hits.end(), more.begin(), more.end());
    }
  }
  tally.nearest_lines.insert(tally.nearest_lines.end(), nearest.begin(), nearest.end());
  uint64_t last = 0;  // the function whose first address is taken already
  for (const LineHit& hit : hits) {
    const CodeFunction* function = holder(found.functions, hit.address);
    if (!function || function->begin == last) {
      continue;
    }
    last = function->begin;
    if (const char* reason = refusal(file.elf(), function->symbol, function->begin)) {
      tally.refused.push_back(fmt::format("{}: {}", function->name, reason));
      continue;
    }
    const uint64_t entry = file.entry_of(function->begin);
    const bool whole = kind != SiteKind::Statement || hit.address <= entry;
    const SiteKind as = kind == SiteKind::Statement ? SiteKind::Entry : kind;
    Site site = function_site(module, file, *function, whole ? as : SiteKind::Statement);
    if (!whole) {
      site.address = hit.address;
    }
    site.file = hit.file;
    site.line = hit.line;
    sites.push_back(std::move(site));
  }
}

}  // namespace dj
