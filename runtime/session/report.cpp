// SPDX-License-Identifier: Apache-2.0
// Arming as text.
#include "runtime/session/report.h"

#include <fmt/format.h>

#include "compiler/base/counted.h"
#include "runtime/output/messages.h"
#include "runtime/shared/thread_table.h"
#include "runtime/target/report_sites.h"

namespace dj {

void warn_unraised(Target& target) {
  const size_t left_out = target.take_unraised();
  if (left_out == 0) return;
  report_warning("DJ5903",
                 fmt::format("{} of marks not raised, as a session raises {} at most: the program "
                             "may leave those marks out",
                             counted(left_out, "semaphore"), abi::kMostRaised));
}

void report_arming(Target& target, StageClock& clock, bool list, int pid, bool warn) {
  const ArmReport report = target.report();
  clock.done("arm", [&] {
    return fmt::format(
        "{} of {}; {} of text copied before, in {:.1f} ms; target stopped {:.1f} ms{}",
        report.armed, counted(report.sites, "site"), counted(report.times.copied_pages, "page"),
        static_cast<double>(report.times.copy_ns) / 1e6, static_cast<double>(report.pause_ns) / 1e6,
        to_string(report.times));
  });
  if (list) {
    std::vector<InstalledSite> sites = target.sites();
    for (InstalledSite& site : sites) site.pid = pid;
    report_sites(sites);
  }
  if (warn) warn_skipped_sites(target.skipped_sites());
  warn_unraised(target);
}

}  // namespace dj
