// Probe kind process..statement("f@file:line"): the first instruction of a source line, in each
// function that has code for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void find_statement(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, *query.component("statement"), SiteKind::Statement, meaning);
}

constexpr ProbeKind kKinds[] = {
    {"<process>.statement(s)", find_statement},
    {"<process>.statement(s).nearest", find_statement},
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

// The lines meant in the function, counted from its declaration when they are relative. None: its
// declaration is not known, or in another file.
std::optional<LineRange> lines_in(const CodeFunction& function, const FunctionPattern& pattern,
                                  DebugInfo& info) {
  LineRange lines = *pattern.line;
  if (lines.relative) {
    const std::optional<SourcePlace> declared = info.declaration(function.begin);
    if (!declared || !path_matches(pattern.file, declared->file)) {
      return std::nullopt;
    }
    lines = {lines.first + declared->line, lines.last + declared->line};
  }
  return lines;
}

// The one of `nearest` that is closest to the first of the lines.
LineRange closest(const LineRange& lines, const std::vector<uint32_t>& nearest) {
  uint32_t best = nearest.front();
  for (uint32_t line : nearest) {
    if (std::abs(int64_t{line} - lines.first) <= std::abs(int64_t{best} - lines.first)) {
      best = line;  // the later of two equally near ones: code follows its line
    }
  }
  return {best, best};
}

std::vector<LineHit> hits_in(const std::vector<CodeFunction>& functions, DebugInfo& info,
                             const FunctionPattern& pattern, std::vector<uint32_t>& nearest) {
  std::vector<LineHit> hits;
  for (const CodeFunction& f : functions) {
    const std::optional<LineRange> lines = lines_in(f, pattern, info);
    if (!lines) {
      continue;
    }
    std::vector<uint32_t> near;
    auto more = info.line_addresses(pattern.file, *lines, f.begin, f.end, near);
    if (more.empty() && pattern.nearest && !near.empty()) {
      more = info.line_addresses(pattern.file, closest(*lines, near), f.begin, f.end, near);
    }
    hits.insert(hits.end(), more.begin(), more.end());
    nearest.insert(nearest.end(), near.begin(), near.end());
  }
  return hits;
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
  DebugInfo& info = *file.debug_info();
  std::vector<LineHit> hits;
  if (matcher.is_wild() && !pattern.line->relative) {
    hits = info.line_addresses(pattern.file, *pattern.line, tally.nearest_lines);
    if (hits.empty() && pattern.nearest && !tally.nearest_lines.empty()) {
      const LineRange line = closest(*pattern.line, tally.nearest_lines);
      hits = info.line_addresses(pattern.file, line, tally.nearest_lines);
    }
  } else {
    hits = hits_in(found.functions, info, pattern, tally.nearest_lines);
  }
  std::set<std::pair<uint64_t, uint32_t>> taken;  // function and line whose first address is known
  for (const LineHit& hit : hits) {
    const CodeFunction* function = holder(found.functions, hit.address);
    if (!function || !taken.emplace(function->begin, hit.line).second) {
      continue;
    }
    if (const char* reason = refusal(file.elf(), function->symbol, function->begin)) {
      tally.refused.push_back(fmt::format("{}: {}", function->name(), reason));
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
