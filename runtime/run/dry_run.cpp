// SPDX-License-Identifier: Apache-2.0
// The plan of patches as text. A launched command dies unstarted with its TracedProcess.
#include "runtime/run/dry_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"

namespace dj {
namespace {

const char* what_was_done(const FoundTarget& target) {
  if (target.kernel) return "the kernel was not changed";
  if (!target.process) return "there is no target";
  return target.is_child() ? "the command was loaded, stopped and killed before it ran"
                           : "the process was not changed";
}

}  // namespace

std::string dry_run(const FoundTarget& target, const PatchPlan& patches, const Plan& plan) {
  std::string text;
  size_t jumps = 0, traps = 0, sites = 0;
  for (InstalledSite& site : list_sites(patches, target.modules())) {
    if (site.state == SiteState::Registered)
      site.state = site.jump ? SiteState::Optimized : SiteState::Int3;
    jumps += site.state == SiteState::Optimized;
    traps += site.state == SiteState::Int3;
    ++sites;
    text += printable(to_string(site)) + "\n";
  }
  const auto host_probes =
      std::count_if(plan.host_probes.begin(), plan.host_probes.end(),
                    [](const HostProbe& probe) { return probe.when != HostProbe::When::Never; });
  return text +
         fmt::format(
             "dry run: {} of {} would be armed, {} by jump, {} by int3; {} in djtap itself; {}\n",
             jumps + traps, counted(sites, "site"), jumps, traps,
             host_probes == 1 ? "1 probe runs" : fmt::format("{} probes run", host_probes),
             what_was_done(target));
}

}  // namespace dj
