// SPDX-License-Identifier: Apache-2.0
// Probe kind process..statement("f@file:line"): the first instruction of a source line, in each
// function that has code for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "compiler/debuginfo/source_path.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void find_lines(PointQuery& query, PointMeaning& meaning) {
  find_sites(query, *query.component("statement"), SiteKind::Statement, meaning);
}

constexpr ProbeKind kStatementKinds[] = {
    {"<process>.statement(s)", find_lines},
    {"<process>.statement(s).nearest", find_lines},
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

bool is_in_file(const std::string& file, DebugInfo& info, uint64_t pc,
                const FunctionPattern& pattern) {
  const bool is_whole = pattern.file.starts_with('/');
  return source_path_matches(pattern.file, file, is_whole ? info.compile_folder(pc) : "");
}

// The lines meant in a function that is declared there, counted from there when they are relative.
// None: its declaration is not known, or in another file.
std::optional<LineRange> lines_in(const std::optional<SourcePlace>& declared, DebugInfo& info,
                                  uint64_t pc, const FunctionPattern& pattern) {
  LineRange lines = *pattern.line;
  if (lines.relative) {
    if (!declared || !is_in_file(declared->file, info, pc, pattern)) {
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

// Which function's text a line is of, of a function and those that were inlined into it: the one
// that is declared last above it.
class LineOwners {
 public:
  LineOwners(const std::optional<SourcePlace>& outer, const std::vector<InlineHit>& copies) {
    if (outer) {
      declared_.emplace(outer->file, outer->line);
    }
    for (const InlineHit& copy : copies) {
      declared_.emplace(copy.declared.file, copy.declared.line);
    }
  }
  bool is_of(const LineHit& hit, const SourcePlace& declared) const {
    auto next = declared_.upper_bound({hit.file, hit.line});
    return next != declared_.begin() && *std::prev(next) == std::pair(declared.file, declared.line);
  }

 private:
  std::set<std::pair<std::string, uint32_t>> declared_;
};

// Whether the one line that is meant is where the function is declared, as it is listed: the line
// of a class, or of a result that stands on a line of its own, may have no code.
bool is_declared_at(DebugInfo& info, uint64_t begin, const FunctionPattern& pattern) {
  const LineRange& line = *pattern.line;
  if (line.relative || line.first != line.last) return false;
  const std::optional<SourcePlace> declared = info.declaration(begin);
  return declared && declared->line == line.first &&
         is_in_file(declared->file, info, begin, pattern);
}

std::vector<LineHit> hits_in(const std::vector<CodeFunction>& functions, DebugInfo& info,
                             const FunctionPattern& pattern, std::vector<uint32_t>& nearest) {
  std::vector<LineHit> hits;
  const bool any = pattern.name == "*";
  for (const CodeFunction& f : functions) {
    const std::optional<SourcePlace> declared =
        pattern.line->relative ? info.declaration(f.begin) : std::nullopt;
    const std::optional<LineRange> lines = lines_in(declared, info, f.begin, pattern);
    if (!lines) {
      continue;
    }
    std::vector<uint32_t> near;
    auto more = info.line_addresses(pattern.file, *lines, f.begin, f.end, near);
    if (more.empty() && pattern.nearest && !near.empty()) {
      more = info.line_addresses(pattern.file, closest(*lines, near), f.begin, f.end, near);
    }
    if (any && declared && !more.empty()) {  // behind a short function stands another's text
      const LineOwners owners(declared, info.inlined(pattern.matcher(), f.begin));
      std::erase_if(more, [&](const LineHit& hit) { return !owners.is_of(hit, *declared); });
    }
    hits.insert(hits.end(), more.begin(), more.end());
    if (more.empty() && !any && is_declared_at(info, f.begin, pattern)) {
      hits.push_back({f.begin, pattern.file, lines->first});
    }
    nearest.insert(nearest.end(), near.begin(), near.end());
  }
  return hits;
}

// Rows of the line tables in [begin, end), as DebugInfo::line_addresses() has them.
using RowsIn = std::function<std::vector<LineHit>(const std::string& file, const LineRange& lines,
                                                  uint64_t begin, uint64_t end,
                                                  std::vector<uint32_t>& nearest, bool all_rows)>;

// Lines in inlined copies. An optimizer leaves of some statements only the place where they would
// begin: at the copy's entry, or in an empty range of it. What else the line tables have at these
// addresses is the caller's, so there only lines of the function's own text count.
class InlinedLines {
 public:
  InlinedLines(RowsIn rows, DebugInfo& info, const FunctionPattern& pattern,
               std::vector<uint32_t>& nearest)
      : rows_(std::move(rows)), info_(info), pattern_(pattern), nearest_(nearest) {}

  // For each copy, before the first hits(): the last line of its function that has code in it.
  void note_end(const InlineHit& copy) {
    uint32_t& last = last_line_[{copy.declared.file, copy.declared.line}];
    std::vector<uint32_t> none;
    for (const auto& [begin, end] : copy.ranges) {
      for (const LineHit& hit : rows_(copy.declared.file, LineRange{}, begin, end, none, true)) {
        last = std::max(last, hit.line);
      }
    }
  }

  // The first address of each of the lines, where a statement begins if there is such a place.
  std::vector<LineHit> hits(const InlineHit& copy) {
    const std::optional<LineRange> lines = lines_in(copy.declared, info_, copy.address, pattern_);
    if (!lines) {
      return {};
    }
    std::vector<LineHit> found = hits_of(copy, *lines);
    if (found.empty() && pattern_.nearest && !nearest_.empty()) {
      found = hits_of(copy, closest(*lines, nearest_));
    }
    return found;
  }

 private:
  std::vector<LineHit> hits_of(const InlineHit& copy, const LineRange& lines) {
    std::map<uint32_t, LineHit> first;  // by line
    for (const bool all_rows : {false, true}) {
      std::map<uint32_t, LineHit> more;
      for (const auto& [begin, end] : copy.ranges) {
        add({begin, begin == end ? begin + 1 : end, begin < end}, copy, lines, all_rows, more);
      }
      add({copy.address, copy.address + 1, false}, copy, lines, all_rows, more);
      first.insert(more.begin(), more.end());
    }
    std::vector<LineHit> found;
    for (auto& [line, hit] : first) {
      found.push_back(std::move(hit));
    }
    return found;
  }

  // Piece: code of a copy. whole: all of its rows are the copy's, not only those of its function.
  struct Piece {
    uint64_t begin, end;
    bool whole;
  };

  void add(const Piece& piece, const InlineHit& copy, const LineRange& lines, bool all_rows,
           std::map<uint32_t, LineHit>& out) {
    std::vector<uint32_t> near;
    const SourcePlace& declared = copy.declared;
    const uint32_t last = last_line_[{declared.file, declared.line}];
    for (LineHit& hit : rows_(pattern_.file, lines, piece.begin, piece.end, near, all_rows)) {
      const bool own = hit.file == declared.file && hit.line >= declared.line && hit.line <= last;
      if (!piece.whole && !own) {
        continue;
      }
      const auto known = out.try_emplace(hit.line, hit).first;
      if (hit.address < known->second.address) {
        known->second = std::move(hit);
      }
    }
    if (piece.whole) {
      nearest_.insert(nearest_.end(), near.begin(), near.end());
    }
  }

  RowsIn rows_;
  DebugInfo& info_;
  const FunctionPattern& pattern_;
  std::vector<uint32_t>& nearest_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> last_line_;  // by declaration
};

void add_copied_line(size_t module, Module& file, const InlineHit& copy, const LineHit& hit,
                     std::vector<Site>& sites, SearchTally& tally) {
  if (std::optional<Site> site = inner_site(module, file, hit.address, tally)) {
    site->function = copy.name;
    site->file = hit.file;
    site->line = hit.line;
    site->scope = copy.scope;
    sites.push_back(std::move(*site));
  }
}

// Of lines that are asked for in whatever function has them: those in inlined copies, of which one
// function may hold several.
class CopiedLines {
 public:
  CopiedLines(size_t module, Module& file, const FunctionPattern& pattern, SearchTally& tally)
      : module_(module),
        file_(file),
        info_(*file.debug_info()),
        pattern_(pattern),
        matcher_(pattern.name),
        tally_(tally) {}

  // hits: all of one function, by address. Lines of which copies have places are taken out.
  void add(const CodeFunction& function, std::vector<LineHit>& hits) {
    const std::vector<InlineHit> copies = info_.inlined(matcher_, function.begin);
    if (copies.empty()) {
      return;
    }
    const LineOwners owners(info_.declaration(function.begin), copies);
    InlinedLines search(rows(), info_, pattern_, tally_.nearest_lines);
    for (const InlineHit& copy : copies) {
      search.note_end(copy);
    }
    std::set<std::pair<std::string, uint32_t>> taken;
    for (const InlineHit& copy : copies) {
      for (const LineHit& hit : search.hits(copy)) {
        if (owners.is_of(hit, copy.declared)) {
          add_copied_line(module_, file_, copy, hit, sites_, tally_);
          taken.emplace(hit.file, hit.line);
        }
      }
    }
    std::erase_if(hits, [&](const LineHit& h) { return taken.contains({h.file, h.line}); });
  }
  std::vector<Site> take() { return std::move(sites_); }

 private:
  // The pattern's alone, read once: a function is copied to thousands of places.
  RowsIn rows() {
    if (!all_rows_) {
      std::vector<uint32_t> near;
      all_rows_ = info_.line_addresses(pattern_.file, *pattern_.line, near, true);
      rows_ = info_.line_addresses(pattern_.file, *pattern_.line, near);
    }
    return [this](const std::string& file, const LineRange& lines, uint64_t begin, uint64_t end,
                  std::vector<uint32_t>&, bool all) {
      const std::vector<LineHit>& from = all ? *all_rows_ : rows_;
      auto row = std::partition_point(from.begin(), from.end(),
                                      [&](const LineHit& r) { return r.address < begin; });
      std::vector<LineHit> found;
      for (; row != from.end() && row->address < end; ++row) {
        const bool is_searched = file == pattern_.file;  // as all rows are
        if (lines.has(row->line) && (is_searched || path_matches(file, row->file))) {
          found.push_back(*row);
        }
      }
      return found;
    };
  }

  size_t module_;
  Module& file_;
  DebugInfo& info_;
  const FunctionPattern& pattern_;
  const NameMatcher matcher_;
  SearchTally& tally_;
  std::optional<std::vector<LineHit>> all_rows_;
  std::vector<LineHit> rows_;
  std::vector<Site> sites_;
};

// Splits hits in two: those in copies become sites, the others stay.
std::vector<Site> take_copied(size_t module, Module& file, const FunctionPattern& pattern,
                              const std::vector<CodeFunction>& functions,
                              std::vector<LineHit>& hits, SearchTally& tally) {
  CopiedLines copied(module, file, pattern, tally);
  std::vector<LineHit> own;
  for (auto first = hits.begin(); first != hits.end();) {
    const CodeFunction* function = holder(functions, first->address);
    auto last = std::find_if(first, hits.end(), [&](const LineHit& hit) {
      return function ? hit.address >= function->end : hit.address != first->address;
    });
    std::vector<LineHit> here(first, last);
    if (function) {
      copied.add(*function, here);
    }
    own.insert(own.end(), here.begin(), here.end());
    first = last;
  }
  hits = std::move(own);
  return copied.take();
}

}  // namespace

std::span<const ProbeKind> statement_kinds() { return kStatementKinds; }

namespace {

// The line's place in the function; what lies before the entry is the entry.
Site line_site(size_t module, Module& file, const CodeFunction& function, const LineHit& hit,
               SiteKind kind) {
  const uint64_t entry = file.entry_of(function.begin);
  const bool whole = kind != SiteKind::Statement || hit.address <= entry;
  const SiteKind as = kind == SiteKind::Statement ? SiteKind::Entry : kind;
  Site site = function_site(module, file, function, whole ? as : SiteKind::Statement);
  if (!whole) {
    site.address = hit.address;
  }
  site.file = hit.file;
  site.line = hit.line;
  return site;
}

}  // namespace

void search_lines(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                  std::vector<Site>& sites, SearchTally& tally) {
  const NameMatcher matcher = pattern.matcher();
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
  std::vector<Site> in_copies;
  if (matcher.is_wild() && !pattern.line->relative) {
    FunctionPattern meant = pattern;
    hits = info.line_addresses(pattern.file, *meant.line, tally.nearest_lines);
    if (hits.empty() && pattern.nearest && !tally.nearest_lines.empty()) {
      meant.line = closest(*pattern.line, tally.nearest_lines);
      hits = info.line_addresses(pattern.file, *meant.line, tally.nearest_lines);
    }
    if (kind == SiteKind::Statement && pattern.name == "*") {
      in_copies = take_copied(module, file, meant, found.functions, hits, tally);
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
      tally.refused.push_back(fmt::format("{}: {}", file.name_of(*function), reason));
      continue;
    }
    sites.push_back(line_site(module, file, *function, hit, kind));
  }
  sites.insert(sites.end(), std::make_move_iterator(in_copies.begin()),
               std::make_move_iterator(in_copies.end()));
  if (kind == SiteKind::Statement && (pattern.name != "*" || pattern.line->relative)) {
    search_inlined_lines(module, file, pattern, sites, tally);
  }
}

void search_inlined_lines(size_t module, Module& file, const FunctionPattern& pattern,
                          std::vector<Site>& sites, SearchTally& tally) {
  if (!file.debug_info()) {
    return;
  }
  DebugInfo& info = *file.debug_info();
  InlinedLines search(
      [&info](const std::string& source, const LineRange& lines, uint64_t begin, uint64_t end,
              std::vector<uint32_t>& near,
              bool all) { return info.line_addresses(source, lines, begin, end, near, all); },
      info, pattern, tally.nearest_lines);
  std::vector<InlineHit> copies = info.inlined(pattern.matcher());
  std::erase_if(copies, [&](const InlineHit& copy) {
    return !lines_in(copy.declared, info, copy.address, pattern);
  });
  for (const InlineHit& copy : copies) {
    search.note_end(copy);
    tally.has_copies = true;
  }
  for (const InlineHit& copy : copies) {
    for (const LineHit& hit : search.hits(copy)) {
      add_copied_line(module, file, copy, hit, sites, tally);
    }
  }
}

}  // namespace dj
