// SPDX-License-Identifier: Apache-2.0
// Sites and arming as text.
#include "runtime/session/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/tell.h"
#include "runtime/shared/thread_table.h"

namespace dj {

void report_unusual_sites(const std::vector<InstalledSite>& sites) {
  constexpr size_t kMost = 100;
  size_t count = 0;
  for (const InstalledSite& site : sites) {
    if (site.reason.empty() && site.state != SiteState::Gone) continue;
    if (++count <= kMost) log_line("{}", to_string(site));
  }
  if (count > kMost) log_line("and {} more (--probes shows all)", count - kMost);
}

void report_sites(const std::vector<InstalledSite>& sites) {
  for (const InstalledSite& site : sites) log_line("{}", to_string(site));
}

void warn_skipped_sites(const std::vector<InstalledSite>& sites) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const InstalledSite& site : sites) {
    // The detail in parentheses is for --probes; here sites of one kind are one line.
    if (site.state == SiteState::Skipped)
      by_reason[site.reason.substr(0, site.reason.find(" ("))].push_back(shown_name(site));
  }
  for (const auto& [reason, symbols] : by_reason) {
    std::string names = fmt::format(
        "{}",
        fmt::join(symbols.begin(), symbols.begin() + std::min<size_t>(3, symbols.size()), ", "));
    const bool is_writable = reason == "writable-text";
    tell_warning("DJ4901",
                 fmt::format("{} not probed [SKIPPED: {}]: {}{}{}", counted(symbols.size(), "site"),
                             reason, names, symbols.size() > 3 ? " ... (all by --probes)" : "",
                             is_writable ? "; the program may write to its code (--writable-text "
                                           "trusts it not to)"
                                         : ""));
  }
}

void warn_unraised(Session& session) {
  const size_t left_out = session.take_unraised();
  if (left_out == 0) return;
  tell_warning("DJ5903",
               fmt::format("{} of marks not raised, as a session raises {} at most: the program "
                           "may leave those marks out",
                           counted(left_out, "semaphore"), abi::kMostRaised));
}

void report_arming(Session& session, StageClock& clock, bool list, bool warn) {
  const Installation& installation = *session.installation();
  const PageCopies& copies = installation.times().copies;
  clock.done("arm", [&] {
    return fmt::format(
        "{} of {}; {} of text copied before, in {:.1f} ms; target stopped {:.1f} ms{}",
        installation.armed_count(), counted(installation.site_count(), "site"),
        counted(copies.pages, "page"), static_cast<double>(copies.ns) / 1e6,
        static_cast<double>(session.arm_pause_ns()) / 1e6, to_string(installation.times()));
  });
  if (list) report_sites(installation.sites());
  if (warn) warn_skipped_sites(installation.skipped_sites());
  warn_unraised(session);
}

}  // namespace dj
