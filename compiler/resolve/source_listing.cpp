// SPDX-License-Identifier: Apache-2.0
// Lines come from the line table of the function's own unit, variables from the scopes at each
// line.
#include "compiler/resolve/source_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "compiler/base/printable.h"
#include "compiler/base/target_file.h"
#include "compiler/resolve/missing_debug_info.h"
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

// The source file that debug information names; null: it cannot be read, or is none.
TargetFilePtr source_file(const std::string& path) {
  constexpr uint64_t kMostBytes = 64 << 20;
  Result<TargetFilePtr> file = open_found_file(path);
  return file.ok() && file.value()->version().bytes <= kMostBytes ? file.take() : nullptr;
}

std::vector<std::string_view> lines_of(const TargetFile& file) {
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<std::string_view> lines;
  while (!rest.empty()) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(lines.back().size() + 1, rest.size()));
  }
  return lines;
}

bool is_newer(const TargetFile& file, const TargetFile& than) {
  const FileVersion &a = file.version(), &b = than.version();
  return std::pair(a.changed_s, a.changed_ns) > std::pair(b.changed_s, b.changed_ns);
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
                 const TargetFile& program)
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
    const TargetFilePtr file = source_file(path);
    std::vector<std::string_view> source;
    if (file != nullptr) source = lines_of(*file);
    if (source.empty())
      out += "  (the source is not here)\n";
    else if (is_newer(*file, program_))
      out += "  (the source is newer than the program: lines may have moved)\n";
    for (const uint32_t line : shown_lines(source.size())) {
      std::string_view words = line > 0 && line <= source.size() ? source[line - 1] : "";
      out += fmt::format("{} {:>5}  {}\n", with_code_.contains(line) ? '*' : ' ', line,
                         printable_lines(words));
    }
    for (const std::string& name : order_)
      out += printable_line("  {} on {}", name, ranges(seen_.at(name), with_code_));
    return out;
  }

 private:
  // Those with code, and those between them that the source has.
  std::set<uint32_t> shown_lines(size_t source_lines) const {
    std::set<uint32_t> shown = with_code_;
    const uint64_t last = with_code_.empty() ? declared_.line : *with_code_.rbegin();
    for (uint64_t line = declared_.line; line <= std::min<uint64_t>(last, source_lines); ++line) {
      shown.insert(static_cast<uint32_t>(line));
    }
    return shown;
  }

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
  const TargetFile& program_;
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
           FunctionSource(*info, site, *declared, file.elf().file()).text();
  }
  if (shown > kMaxFunctions)
    out += fmt::format("\n.. more than {} functions match\n", kMaxFunctions);
  if (shown == 0 && diags.ok()) {
    diags.error("DJ3010", point.span, "no debug info (DWARF) tells the source of that");
    Module* file = !meaning.sites.empty() ? modules.open(meaning.sites[0].module) : nullptr;
    help_to_debug_info(diags, file);
  }
  return out;
}

}  // namespace dj
