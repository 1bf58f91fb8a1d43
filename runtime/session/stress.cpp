// SPDX-License-Identifier: Apache-2.0
// From the list of sites and the one array of the script.
#include "runtime/session/stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/base/counted.h"
#include "compiler/base/object_point.h"
#include "compiler/base/printable.h"
#include "compiler/debuginfo/pattern.h"
#include "runtime/output/global_values.h"
#include "runtime/output/map_elements.h"

namespace dj {
namespace {

constexpr size_t kBusiest = 10;

struct Hits {
  int64_t total = 0;
  std::vector<std::pair<int64_t, uint64_t>> by_place;  // with its address; the most hit first
};

// The script's only global is an array; of the kernel, a counter.
Hits read_hits(const Program& program, const Layout& layout) {
  Hits hits;
  if (program.globals.front().storage == Storage::Counter) {
    hits.total = std::get<int64_t>(read_global(program, 0, layout).elements.front().value);
    return hits;
  }
  const GlobalSlot& slot = layout.globals.front();
  const abi::MapForm form = map_form(program.globals.front(), slot, layout);
  const ArenaView arena(layout.base, layout.bytes);
  each_element(arena, slot.data, form, [&](const MapElement& element) {
    const auto count = static_cast<int64_t>(element.value.number());
    hits.total =
        static_cast<int64_t>(static_cast<uint64_t>(hits.total) + static_cast<uint64_t>(count));
    hits.by_place.emplace_back(count, element.keys.front().number());
  });
  std::sort(hits.by_place.begin(), hits.by_place.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return hits;
}

// As pp() says it.
std::string place_name(const std::vector<InstalledSite>& sites, uint64_t address) {
  const auto found = std::find_if(sites.begin(), sites.end(),
                                  [&](const auto& site) { return site.address == address; });
  if (found == sites.end()) return fmt::format("{:#x}", address);
  const std::string& name = found->foreign.empty() ? found->symbol : found->foreign;
  const std::string bare = name.substr(0, name.rfind('+'));
  return fmt::format("{}.function(\"{}\")", object_point(found->module),
                     found->foreign.empty() ? person_name(bare) : bare);
}

void print_states(const std::vector<InstalledSite>& sites) {
  // The detail in parentheses is for --probes.
  std::map<std::tuple<char, SiteState, std::string>, size_t> rows;
  for (const InstalledSite& site : sites)
    rows[{site.letter, site.state, site.reason.substr(0, site.reason.find(" ("))}]++;
  log_line("stress: {}", counted(sites.size(), "site"));
  for (const auto& [row, count] : rows) {
    const auto& [letter, state, reason] = row;
    log_line("  {} {:<10} {:>8}{}{}", letter, site_state_name(state), count,
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
    log_line("stress: {} is stripped: {} of its functions are known by .eh_frame alone", object,
             count);
  if (!program_has_any)
    log_line("stress: {}: no function of it is known, by symbols or by .eh_frame", facts.program);
}

double ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

StressFacts stress_facts(const Session& session, std::string program) {
  StressFacts facts;
  facts.program = std::move(program);
  if (session.target() == nullptr) return facts;
  facts.sites = session.sites();
  facts.arming = session.target()->report();
  return facts;
}

void report_stress(const StressFacts& facts, const StageClock& clock, const Program& program,
                   const Layout& layout) {
  print_states(facts.sites);
  print_nameless(facts);
  const InstallTimes& times = facts.arming.times;
  log_line("stress: milliseconds");
  double run_ms = 0;
  for (const auto& [stage, stage_ms] : clock.stages()) {
    log_line("  {:<10} {:>10.1f}", stage, stage_ms);
    run_ms = stage_ms;
  }
  log_line(
      "  inside place and arm: analysis {:.1f}, link {:.1f}, detours {:.1f}, threads {:.1f}, "
      "patches {:.1f}",
      ms(times.prepare_ns), ms(times.link_ns), ms(times.detours_ns), ms(times.move_ns),
      ms(times.patch_ns));
  log_line(
      "stress: {} of text copied before, in {:.1f} ms ({:.1f} per 1,000)",
      counted(times.copied_pages, "page"), ms(times.copy_ns),
      ms(times.copy_ns) * 1000 / static_cast<double>(std::max<uint64_t>(times.copied_pages, 1)));
  log_line("stress: target stopped {:.1f} ms{}", ms(facts.arming.pause_ns), to_string(times));
  if (times.rebound_calls != 0) {
    log_line("stress: {} led straight to detours; target stopped {:.1f} ms at a time for it",
             counted(times.rebound_calls, "call"), ms(times.rebinding_ns));
  }
  const std::string memory = to_string(facts.arming.memory);
  if (!memory.empty()) log_line("stress: {}", memory);
  Hits hits = read_hits(program, layout);
  double rate = run_ms > 0 ? static_cast<double>(hits.total) * 1000 / run_ms : 0;
  const std::string functions =
      hits.by_place.empty() ? ""
                            : fmt::format(", {} hit", counted(hits.by_place.size(), "function"));
  log_line("stress: {}, {:.0f} hits per second{}",
           counted(static_cast<uint64_t>(hits.total), "hit"), rate, functions);
  for (size_t i = 0; i < std::min(kBusiest, hits.by_place.size()); ++i)
    log_line("  {:>12} {}", hits.by_place[i].first,
             place_name(facts.sites, hits.by_place[i].second));
}

}  // namespace dj
