// Sums the counts of a probe's handlers, and looks who still has a call in the table.
#include "runtime/output/report_calls.h"

#include <fmt/format.h>

#include <map>

#include "compiler/base/printable.h"
#include "compiler/stages/result_use.h"
#include "runtime/output/report_times.h"
#include "runtime/process/process.h"
#include "runtime/process/untrusted.h"
#include "runtime/shared/capture.h"

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

// Where the arena has what return probes keep, by the Layout.
struct Kept {
  ArenaView arena;
  uint64_t captures, handlers;
  Kept(const Plan& plan, const Layout& layout)
      : arena(layout.base, layout.bytes),
        captures(layout.capture_data),
        handlers(capture_handlers(plan)) {}
  abi::CaptureCount count(HandlerId handler) const {
    abi::CaptureCount count = {};
    arena.copy(captures + handler * sizeof count, &count, sizeof count);
    return count;
  }
  abi::Capture entry(uint64_t index) const {
    abi::Capture entry = {};
    const uint64_t first = captures + abi::capture_counts_bytes(handlers);
    arena.copy(first + index * sizeof entry, &entry, sizeof entry);
    return entry;
  }
};

// Calls that nobody saw return: of a thread that has ended nobody will.
void add_kept(const Kept& kept, const Plan& plan, std::map<ProbeId, Calls>& probes) {
  Gone gone;
  for (uint64_t i = 0; i < uint64_t{abi::kCaptureBuckets} * abi::kCaptureWays; ++i) {
    const abi::Capture entry = kept.entry(i);
    if (entry.owner == 0 || entry.slot == 0 || (entry.slot & abi::kSlotUnused) != 0) continue;
    const auto handler = static_cast<uint32_t>(entry.owner) - 1;
    if (handler >= plan.handlers.size()) continue;  // in an object that was opened later
    Calls& calls = probes[plan.handlers[handler].probe];
    (gone(static_cast<uint32_t>(entry.owner >> 32)) ? calls.abandoned : calls.inside) +=
        uint64_t{1} + entry.more;
  }
}

}  // namespace

void count_calls(const Layout& layout) {
  if (layout.header.captures == 0) return;
  const ArenaView arena(layout.base, layout.bytes);
  arena.store<uint64_t>(layout.header.captures + offsetof(abi::Captures, counting), 1);
}

void report_calls(const Program& program, const Plan& plan, const Sources& sources,
                  const Layout& layout) {
  if (layout.header.captures == 0) return;
  const Kept kept(plan, layout);
  const std::vector<bool> of_calls = handlers_of_calls(plan);
  std::map<ProbeId, Calls> probes;
  for (HandlerId id = 0; id < plan.handlers.size(); ++id) {
    if (!of_calls[id]) continue;
    const abi::CaptureCount count = kept.count(id);
    Calls& calls = probes[plan.handlers[id].probe];
    calls.entered += count.entered;
    calls.returned += count.returned;
    calls.abandoned += count.abandoned;
    calls.unseen += count.lost;
  }
  if (probes.empty()) return;
  add_kept(kept, plan, probes);
  log_line("{:>12} {:>10} {:>10} {:>12} {:>14}  calls of", "entered", "returned", "abandoned",
           "unseen", "inside");
  for (const auto& [probe, calls] : probes) {
    log_line("{:>12} {:>10} {:>10} {:>12} {:>14}  {}", calls.entered, calls.returned,
             calls.abandoned, calls.unseen, calls.inside, label_of(program.probes[probe], sources));
  }
}

}  // namespace dj
