// Lines come from the line table of the function's own unit, variables from the scopes at each
// line.
#include "compiler/resolve/source_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "compiler/base/printable.h"
#include "compiler/resolve/module_set.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/resolve/site_search.h"
#include "compiler/resolve/site_targets.h"

namespace dj {

namespace {

constexpr size_t kMaxFunctions = 20;

std::string path_of(const std::string& folder, const std::string& name) {
  return name.starts_with('/') || folder.empty() ? name : folder + "/" + name;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool is_newer(const std::string& path, const std::string& than) {
  std::error_code error;
  const auto source = std::filesystem::last_write_time(path, error);
  if (error) return false;
  const auto program = std::filesystem::last_write_time(than, error);
  return !error && source > program;
}

// "13-17, 21" of the lines in `some`; of lines with code, `all` of them, none lies between 13 and
// 17 that is not in `some`.
std::string ranges(const std::set<uint32_t>& some, const std::set<uint32_t>& all) {
  std::string text;
  for (auto at = all.begin(); at != all.end();) {
    if (!some.contains(*at)) {
      ++at;
      continue;
    }
    uint32_t first = *at, last = *at;
    for (; at != all.end() && some.contains(*at); ++at) last = *at;
    text += text.empty() ? "" : ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

// One function: where its lines have code, and what can be read there.
class FunctionSource {
 public:
  FunctionSource(DebugInfo& info, const Site& site, const SourcePlace& declared,
                 const std::string& program)
      : info_(info), site_(site), declared_(declared), program_(program) {
    std::vector<uint32_t> nearest;
    LineRange lines;
    lines.first = declared.line;
    for (const LineHit& hit : info.line_addresses(declared.file, lines, site.function_begin,
                                                  site.function_end, nearest)) {
      with_code_.insert(hit.line);
      note_variables(hit);
    }
  }

  std::string text() const {
    std::string out =
        printable_line("{}@{}:{}", function_of(site_), declared_.file, declared_.line);
    const std::string path = path_of(info_.compile_folder(site_.function_begin), declared_.file);
    std::vector<std::string> source = lines_of_file(path);
    if (source.empty())
      out += "  (the source is not here)\n";
    else if (is_newer(path, program_))
      out += "  (the source is newer than the program: lines may have moved)\n";
    uint32_t last = with_code_.empty() ? declared_.line : *with_code_.rbegin();
    for (uint32_t line = declared_.line; line <= last; ++line) {
      bool probeable = with_code_.contains(line);
      if (source.empty() && !probeable) continue;
      std::string words = line <= source.size() ? source[line - 1] : "";
      out += fmt::format("{} {:>5}  {}\n", probeable ? '*' : ' ', line, printable_lines(words));
    }
    for (const std::string& name : order_)
      out += printable_line("  {} on {}", name, ranges(seen_.at(name), with_code_));
    return out;
  }

 private:
  // A variable can be read where its scope is and a location is known.
  void note_variables(const LineHit& hit) {
    ProbePlace place;
    place.pc = hit.address;
    place.function_begin = site_.function_begin;
    place.at_entry = hit.address == site_.function_begin;
    for (const Variable& variable : info_.variables(place)) {
      TargetExpr wanted;
      wanted.name = variable.name;
      TargetAnswer answer = info_.target(place, wanted);
      const auto* failure = std::get_if<TargetFailure>(&answer);
      if (failure != nullptr && failure->kind != TargetFailure::BadUse) continue;
      std::string name = fmt::format("${}:{}", variable.name, variable.type);
      if (!seen_.contains(name)) order_.push_back(name);
      seen_[name].insert(hit.line);
    }
  }

  DebugInfo& info_;
  const Site& site_;
  SourcePlace declared_;
  std::string program_;
  std::set<uint32_t> with_code_;
  std::vector<std::string> order_;
  std::map<std::string, std::set<uint32_t>> seen_;
};

}  // namespace

std::string list_source(const ast::ProbePoint& point, const TargetFiles& files, Diags& diags) {
  ModuleSet modules(files);
  const ProbeKind* kind = find_kind(point, diags);
  if (kind == nullptr) return "";
  PointQuery query{point, modules, diags, point.optional};
  PointMeaning meaning;
  kind->find(query, meaning);
  std::string out;
  size_t shown = 0;
  for (const Site& site : meaning.sites) {
    Module& file = *modules.open(site.module);
    DebugInfo* info = file.debug_info();
    std::optional<SourcePlace> declared;
    if (info != nullptr) declared = info->declaration(site.function_begin);
    if (!declared) continue;
    if (++shown > kMaxFunctions) break;
    out += (out.empty() ? "" : "\n") +
           FunctionSource(*info, site, *declared, modules.path(site.module)).text();
  }
  if (shown > kMaxFunctions)
    out += fmt::format("\n.. more than {} functions match\n", kMaxFunctions);
  if (shown == 0 && diags.ok()) {
    diags.error("DJ3010", point.span, "no debug info (DWARF) tells the source of that").help =
        "compile with -g, or install the package with its debug symbols";
  }
  return out;
}

}  // namespace dj
