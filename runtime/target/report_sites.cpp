// SPDX-License-Identifier: Apache-2.0
// Sites as text.
#include "runtime/target/report_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/messages.h"

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
    report_warning(
        "DJ4901",
        fmt::format("{} not probed [SKIPPED: {}]: {}{}{}", counted(symbols.size(), "site"), reason,
                    names, symbols.size() > 3 ? " ... (all by --probes)" : "",
                    is_writable ? "; the program may write to its code (--writable-text "
                                  "trusts it not to)"
                                : ""));
  }
}

}  // namespace dj
