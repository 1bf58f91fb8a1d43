// SPDX-License-Identifier: Apache-2.0
// Sums the counts of a probe's handlers, and looks who still has a call in the table.
#include "runtime/output/report_calls.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <numeric>
#include <optional>

#include "compiler/base/printable.h"
#include "compiler/stages/result_use.h"
#include "runtime/output/kept_calls.h"
#include "runtime/output/report_times.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

struct Calls {
  uint64_t entered = 0, returned = 0, abandoned = 0, unseen = 0, inside = 0;
};

// Threads that have calls in the table and have ended.
class Gone {
 public:
  bool operator()(uint32_t tid) {
    auto [known, fresh] = threads_.try_emplace(tid);
    if (fresh) {
      Result<ProcessStatus> status = read_status(static_cast<pid_t>(tid));
      known->second = !status.ok() || status.value().state == 'Z' || status.value().state == 'X';
    }
    return known->second;
  }

 private:
  std::map<uint32_t, bool> threads_;
};

// By the session's number of a handler.
std::vector<std::optional<ProbeId>> all_probes_of_calls(const Plan& plan) {
  std::vector<std::optional<ProbeId>> probes = probes_of_calls(plan);
  probes.insert(probes.end(), plan.dlopened_calls.begin(), plan.dlopened_calls.end());
  return probes;
}

// Calls that nobody saw return: of a thread that has ended nobody will.
void add_kept(const KeptCalls& kept, const std::vector<std::optional<ProbeId>>& probes,
              std::map<ProbeId, Calls>& rows) {
  Gone gone;
  for (uint64_t i = 0; i < KeptCalls::entries(); ++i) {
    const abi::Capture entry = kept.entry(i);
    const HandlerId handler = KeptCalls::handler_of(entry);
    if (!KeptCalls::holds_calls(entry) || handler >= probes.size() || !probes[handler]) continue;
    Calls& calls = rows[*probes[handler]];
    const bool old = entry.epoch != static_cast<uint32_t>(kept.count(handler).epoch);
    uint64_t& of = old                                 ? calls.unseen
                   : gone(KeptCalls::thread_of(entry)) ? calls.abandoned
                                                       : calls.inside;
    of += uint64_t{1} + entry.more;
  }
}

}  // namespace

void count_calls(const Layout& layout) {
  if (!layout.header.captures.is_set()) return;
  const ArenaView arena(layout.base, layout.bytes);
  arena.store<uint64_t>(
      layout.header.captures.address(layout.arena()) + offsetof(abi::Captures, counting), 1);
}

void report_calls(const Program& program, const Plan& plan, const Sources& sources,
                  const Layout& layout) {
  if (!layout.header.captures.is_set()) return;
  const KeptCalls kept(plan, layout);
  const std::vector<std::optional<ProbeId>> probes = all_probes_of_calls(plan);
  std::map<ProbeId, Calls> rows;
  for (HandlerId id = 0; id < probes.size(); ++id) {
    if (!probes[id]) continue;
    const abi::CaptureCount count = kept.count(id);
    Calls& calls = rows[*probes[id]];
    calls.entered += count.entered;
    calls.returned += count.returned;
    calls.abandoned += count.abandoned;
    calls.unseen += std::accumulate(count.unseen, std::end(count.unseen), count.crowded);
  }
  if (rows.empty()) return;
  add_kept(kept, probes, rows);
  log_line("{:>12} {:>10} {:>10} {:>12} {:>14}  calls of", "entered", "returned", "abandoned",
           "unseen", "inside");
  for (const auto& [probe, calls] : rows) {
    log_line("{:>12} {:>10} {:>10} {:>12} {:>14}  {}", calls.entered, calls.returned,
             calls.abandoned, calls.unseen, calls.inside, label_of(program.probes[probe], sources));
  }
}

}  // namespace dj
