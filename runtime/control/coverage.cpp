// Asks the safety checker about every function of a file and counts its verdicts.
#include "runtime/control/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace dj {
namespace {

constexpr uint8_t kEndbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};

// Where an entry probe goes: endbr64 stays at its address.
uint64_t entry_of(const arch::ModuleText& text, uint64_t begin) {
  for (const arch::TextRange& range : text.text) {
    if (begin < range.address || begin + 4 > range.address + range.bytes.size()) continue;
    const uint8_t* code = range.bytes.data() + (begin - range.address);
    return std::equal(kEndbr64, kEndbr64 + 4, code) ? begin + 4 : begin;
  }
  return begin;
}

// Reasons of one kind are one row.
std::string without_addresses(const std::string& reason) {
  static const std::regex kAddress("(( (at|behind|of))? 0x[0-9a-f]+)|( \\(.*)");
  return std::regex_replace(reason, kAddress, "");
}

// One row a verdict, the most frequent first; then the sum.
std::string table(const char* title, const std::vector<arch::Region>& regions) {
  std::map<std::string, size_t> counts;
  for (const arch::Region& region : regions) {
    bool jump = region.verdict == arch::Verdict::Ok;
    counts[jump ? "jump" : arch::verdict_name(region.verdict)]++;
  }
  std::vector<std::pair<std::string, size_t>> rows(counts.begin(), counts.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = fmt::format("{}\n", title);
  for (const auto& [name, count] : rows) {
    double percent = 100.0 * static_cast<double>(count) / static_cast<double>(regions.size());
    out += fmt::format("  {:<24} {:>9} {:>8.3f} %\n", name, count, percent);
  }
  return out + fmt::format("  {:<24} {:>9}\n", "total", regions.size());
}

}  // namespace

Result<std::string> coverage_table(const std::string& path, const ReadText& read_text) {
  DJ_TRY(arch::ModuleText text, read_text(path));
  std::vector<arch::FunctionRange> functions;
  std::set<uint64_t> begins;
  for (const arch::FunctionRange& f : text.functions) {
    if (begins.insert(f.begin).second) functions.push_back(f);
  }
  if (functions.empty()) {
    return Error{path + " names no functions, neither by symbols nor by .eh_frame"};
  }
  std::set<uint64_t> places;  // a symbol may stand behind another one's endbr64
  for (uint64_t begin : begins) places.insert(entry_of(text, begin));
  std::vector<arch::Region> entries, ends;
  for (uint64_t place : places) {
    entries.emplace_back();
    entries.back().address = place;
  }
  arch::Checker checker(std::move(text));
  std::set<uint64_t> exit_places;
  std::map<std::string, size_t> incomplete;
  for (const arch::FunctionRange& f : functions) {
    arch::Exits exits = checker.exits(f.begin, f.end);
    if (!exits.complete) incomplete[without_addresses(exits.reason)]++;
    for (const arch::Exit& exit : exits.exits) {
      bool is_new = exits.complete && exit_places.insert(exit.exit_address).second;
      if (is_new) ends.push_back(exit.region);
    }
  }
  checker.check(entries);
  checker.check(ends);
  std::string out = fmt::format("{}: {} functions\n", path, functions.size());
  out += table("function entries", entries) + table("function exits", ends);
  for (const auto& [reason, count] : incomplete)
    out += fmt::format("  exits not all known: {} functions: {}\n", count, reason);
  return out;
}

}  // namespace dj
