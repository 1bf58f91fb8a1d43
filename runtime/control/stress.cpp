// The internal script of --stress, and its table: from the list of sites and the one array of the
// script.
#include "runtime/control/stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/shared/map.h"

namespace dj {
namespace {

constexpr int64_t kMapEntries = 1 << 18;
constexpr int64_t kStringBytes = 128 << 20;
constexpr size_t kBusiest = 10;

struct Hits {
  int64_t total = 0;
  std::vector<std::pair<int64_t, std::string>> by_place;  // descending
};

// The script's only global is its array.
Hits read_hits(const Layout& layout) {
  Hits hits;
  auto* map = reinterpret_cast<const abi::Map*>(layout.globals.front().address);
  abi::map_each(map, [&](const abi::MapNode& node, const abi::Stat*) {
    auto* key = reinterpret_cast<const abi::Str*>(node.keys[0]);
    int64_t count = static_cast<int64_t>(abi::map_value(map, &node));
    hits.total += count;
    hits.by_place.emplace_back(count, key ? std::string(key->data, key->len) : "?");
  });
  std::sort(hits.by_place.begin(), hits.by_place.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return hits;
}

void print_states(const std::vector<InstalledSite>& sites) {
  // The detail in parentheses is for --probes.
  std::map<std::tuple<char, SiteState, std::string>, size_t> rows;
  for (const InstalledSite& site : sites)
    rows[{site.letter, site.state, site.reason.substr(0, site.reason.find(" ("))}]++;
  fmt::print(stderr, "stress: {} sites\n", sites.size());
  for (const auto& [row, count] : rows) {
    const auto& [letter, state, reason] = row;
    fmt::print(stderr, "  {} {:<10} {:>8}{}{}\n", letter, site_state_name(state), count,
               reason.empty() ? "" : "  ", reason);
  }
}

// Objects whose functions are not all known by symbols: what they were found by.
void print_nameless(const StressFacts& facts) {
  std::map<std::string, size_t> nameless;  // by object
  bool program_has_any = facts.program.empty();
  for (const InstalledSite& site : facts.sites) {
    if (site.symbol.starts_with("0x")) nameless[site.module]++;
    program_has_any = program_has_any || site.module == facts.program;
  }
  for (const auto& [object, count] : nameless)
    fmt::print(stderr, "stress: {} is stripped: {} of its functions are known by .eh_frame alone\n",
               object, count);
  if (!program_has_any)
    fmt::print(stderr, "stress: {}: no function of it is known, by symbols or by .eh_frame\n",
               facts.program);
}

double ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

std::string stress_script(const std::string& pattern) {
  return "global djtap_stress_hits\nprobe func(\"" + pattern +
         "\") { djtap_stress_hits[pp()]++ }\n";
}

void widen_for_stress(Limits& limits) {
  const Limits usual;
  if (limits.max_map_entries == usual.max_map_entries) limits.max_map_entries = kMapEntries;
  if (limits.string_bytes == usual.string_bytes) limits.string_bytes = kStringBytes;
}

StressFacts stress_facts(const Session& session, std::string program) {
  StressFacts facts;
  facts.program = std::move(program);
  facts.pause_ms = ms(session.arm_pause_ns());
  if (session.installation() != nullptr) {
    facts.sites = session.installation()->sites();
    facts.times = session.installation()->times();
    facts.memory = session.installation()->site_memory();
  }
  return facts;
}

void report_stress(const StressFacts& facts, const StageClock& clock, const Layout& layout) {
  print_states(facts.sites);
  print_nameless(facts);
  fmt::print(stderr, "stress: milliseconds\n");
  double run_ms = 0;
  for (const auto& [stage, stage_ms] : clock.stages()) {
    fmt::print(stderr, "  {:<10} {:>10.1f}\n", stage, stage_ms);
    run_ms = stage_ms;
  }
  fmt::print(
      stderr,
      "  inside place and arm: analysis {:.1f}, link {:.1f}, detours {:.1f}, threads {:.1f}, "
      "patches {:.1f}\n",
      ms(facts.times.prepare_ns), ms(facts.times.link_ns), ms(facts.times.detours_ns),
      ms(facts.times.move_ns), ms(facts.times.patch_ns));
  fmt::print(stderr, "stress: {} pages of text copied before, in {:.1f} ms ({:.1f} per 1,000)\n",
             facts.times.copies.pages, ms(facts.times.copies.ns),
             ms(facts.times.copies.ns) * 1000 /
                 static_cast<double>(std::max<uint64_t>(facts.times.copies.pages, 1)));
  fmt::print(stderr, "stress: target stopped {:.1f} ms{}\n", facts.pause_ms,
             to_string(facts.times));
  if (facts.times.stub_calls != 0) {
    fmt::print(stderr,
               "stress: {} calls of linkage stubs led straight to detours; target stopped {:.1f} "
               "ms for it\n",
               facts.times.stub_calls, ms(facts.times.stub_calls_ns));
  }
  const std::string memory = to_string(facts.memory);
  if (!memory.empty()) fmt::print(stderr, "stress: {}\n", memory);
  Hits hits = read_hits(layout);
  double rate = run_ms > 0 ? static_cast<double>(hits.total) * 1000 / run_ms : 0;
  fmt::print(stderr, "stress: {} hits, {:.0f} hits per second, {} functions hit\n", hits.total,
             rate, hits.by_place.size());
  for (size_t i = 0; i < std::min(kBusiest, hits.by_place.size()); ++i)
    fmt::print(stderr, "  {:>12} {}\n", hits.by_place[i].first, hits.by_place[i].second);
}

}  // namespace dj
