// SPDX-License-Identifier: Apache-2.0
// Restores the target, then the processes that it has forked.
#include "runtime/run/take_out.h"

#include <fmt/format.h>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/messages.h"

namespace dj {
namespace {

// The target has ended by itself: a daemon, for one, goes on in what it has forked.
void warn_of_survivors(const ForksLeft& forks) {
  if (forks.living == 0) return;
  report_warning("DJ5911",
                 fmt::format("the session ends with the program, but {} that it has forked "
                             "go on, without probes: {}; attach to one with -p",
                             counted(forks.living, "process"), forks.names));
}

}  // namespace

TakenOut take_out_probes(Session& session, const std::optional<ExitWatch>& watch, bool verbose) {
  constexpr int kEndingMs = 200;  // a process on its way out has no memory before it has ended
  TakenOut taken = {watch && watch->ended()};
  if (!taken.gone || session.targets().size() > 1) {
    const Status restored = session.restore();
    taken.all = restored.ok() || (watch && watch->ended(kEndingMs));
    const std::string later =
        watch ? fmt::format("; do it later with: djtap clean {}", watch->pid()) : "";
    if (!taken.all)
      report_error("DJ5014",
                   fmt::format("probes not removed: {}{}", restored.error().message, later));
  }
  const ForksLeft forks = session.restore_forks();
  if (verbose && forks.count > 0)
    log_line("djtap: probes removed from {}", counted(forks.count, "forked process"));
  if (taken.gone) warn_of_survivors(forks);
  for (const std::string& failure : forks.failures)
    report_error("DJ5014", fmt::format("probes not removed from a forked process: {}", failure));
  taken.all = taken.all && forks.failures.empty();
  return taken;
}

}  // namespace dj
