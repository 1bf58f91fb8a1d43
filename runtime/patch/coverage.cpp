// SPDX-License-Identifier: Apache-2.0
// Asks the safety checker about every function of a file and counts its verdicts.
#include "runtime/patch/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "arch/x86_64/entry_place.h"
#include "compiler/base/counted.h"
#include "compiler/base/printable.h"

namespace dj {
namespace {

uint64_t entry_of(const arch::ModuleText& text, uint64_t begin) {
  return arch::entry_place(arch::bytes_at(text.text, begin), begin);
}

// Reasons of one kind are one row.
std::string without_addresses(const std::string& reason) {
  static const std::regex kAddress("(( (at|behind|of))? 0x[0-9a-f]+)|( \\(.*)");
  return std::regex_replace(reason, kAddress, "");
}

using Outcome = arch::Checker::Outcome;

// Rows of one table: form and reason, with their number.
class Table {
 public:
  void add(const Outcome& outcome, size_t count = 1) {
    std::string reason = outcome.reason == arch::Verdict::Ok ? "" : verdict_name(outcome.reason);
    counts_[{outcome.form, std::move(reason)}] += count;
    total_ += count;
    if (outcome.form != std::string_view("int3") && outcome.form != std::string_view("refused")) {
      jumps_ += count;
    }
  }

  // The most frequent row first; then the sums.
  std::string print(const char* title) const {
    std::vector<std::pair<std::pair<std::string, std::string>, size_t>> rows(counts_.begin(),
                                                                             counts_.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out = fmt::format("{}\n", title);
    for (const auto& [name, count] : rows) {
      out += row(name.first, name.second, count);
    }
    return out + row("by jump", "", jumps_) + row("total", "", total_);
  }

 private:
  std::string row(const std::string& form, const std::string& reason, size_t count) const {
    double percent =
        100.0 * static_cast<double>(count) / static_cast<double>(std::max(total_, 1ul));
    return fmt::format("  {:<9} {:<20} {:>9} {:>8.3f} %\n", form, reason, count, percent);
  }

  std::map<std::pair<std::string, std::string>, size_t> counts_;
  size_t total_ = 0, jumps_ = 0;
};

Table table_of(arch::Checker& checker, std::vector<arch::Region> regions) {
  checker.check(regions, arch::Guards::WhereNeeded, arch::Neighbours::Lean);
  Table table;
  for (const arch::Region& region : regions) {
    table.add(checker.outcome(region));
  }
  return table;
}

constexpr const char* kNote =
    "Jumps assume room for a detour at any address within 2 GB, above 64 KB and outside the file's "
    "own image.\n";

}  // namespace

Result<std::string> coverage_table(const std::string& path, const std::string& name,
                                   const ReadText& read_text) {
  DJ_TRY(arch::ModuleText text, read_text(path));
  std::map<uint64_t, uint64_t> ends_of;  // by function begin
  for (const arch::FunctionRange& f : text.functions) {
    ends_of.emplace(f.begin, f.end);
  }
  const char* truncated = text.is_truncated ? "; the file is truncated" : "";
  if (ends_of.empty())
    return Error{name + " names no functions, neither by symbols nor by .eh_frame" + truncated};
  arch::Checker checker(text);
  const arch::Checker::Census census = checker.census();
  std::vector<uint64_t> begins = census.entries;
  const size_t untraced = std::erase_if(begins, [&](uint64_t begin) {
    return arch::is_kernels(begin) &&
           !arch::has_tracer_place(arch::bytes_at(text.text, begin), begin);
  });
  std::set<uint64_t> places;  // a symbol may stand behind another one's endbr64
  for (uint64_t begin : begins) {
    places.insert(entry_of(text, begin));
  }
  std::vector<arch::Region> entries, ends;
  for (uint64_t place : places) {
    entries.emplace_back();
    entries.back().address = place;
  }
  std::set<uint64_t> exit_places;
  std::map<std::string, size_t> incomplete;
  for (uint64_t begin : begins) {
    if (checker.is_fragment(begin)) {
      continue;  // a .cold part, with a name or taken for a function
    }
    arch::Exits exits = checker.exits(begin, ends_of.at(begin));
    if (!exits.complete) incomplete[without_addresses(exits.reason)]++;
    for (const arch::Exit& exit : exits.exits) {
      bool is_new = exits.complete && exit_places.insert(exit.exit_address).second;
      if (is_new) ends.push_back(exit.region);
    }
  }
  Table all;
  for (const auto& [outcome, count] : census.instructions) {
    all.add(outcome, count);
  }
  std::string out =
      printable_line("{}: {}, {} of them entered{}", name, counted(ends_of.size(), "function"),
                     census.entries.size(), truncated);
  if (text.named.empty()) out += "It is stripped: its functions are known by .eh_frame alone.\n";
  if (untraced != 0)
    out += fmt::format("{} are left out: the kernel cannot trace them itself (ftrace).\n",
                       counted(untraced, "function"));
  out += kNote;
  out += table_of(checker, std::move(entries)).print("function entries");
  out += all.print("all instructions, each probed alone");
  out += table_of(checker, std::move(ends)).print("function exits");
  for (const auto& [reason, count] : incomplete)
    out += fmt::format("  exits not all known: {}: {}\n", counted(count, "function"), reason);
  return out;
}

}  // namespace dj
