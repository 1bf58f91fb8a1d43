// SPDX-License-Identifier: Apache-2.0
// Sites are the same if all that is known of them is: only the numbers of their modules differ.
#include "runtime/run/site_rows.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dj {

void SiteRows::keep(const Plan& plan) {
  std::vector<std::string> modules;
  for (const PlanModule& module : plan.modules) modules.push_back(module.path);
  kept_.push_back({plan.first_site, plan.first_handler, plan.sites.size(), plan.host_probes.size(),
                   std::move(modules)});
}

namespace {

bool are_rows_of(const Plan& plan, std::span<const Site> rows,
                 const std::vector<std::string>& modules) {
  const auto is_row = [&](Site site, const Site& row) {
    if (plan.modules[site.module].path != modules[row.module]) return false;
    site.module = row.module;
    return site == row;
  };
  const size_t sites = plan.sites.size();
  return std::ranges::equal(plan.sites, rows.first(sites), is_row) &&
         std::ranges::equal(plan.host_probes, rows.subspan(sites), {}, &HostProbe::text,
                            &Site::function);
}

}  // namespace

std::optional<SiteId> SiteRows::find(const Plan& plan, const Plan& first) const {
  const size_t of_first = first.sites.size() + first.host_probes.size();
  const auto has_same = [&](const Kept& kept) {
    return kept.first_handler == plan.first_handler && kept.sites == plan.sites.size() &&
           kept.hosts == plan.host_probes.size() &&
           are_rows_of(plan,
                       std::span(first.dlopened)
                           .subspan(kept.first_site - of_first, kept.sites + kept.hosts),
                       kept.modules);
  };
  const auto found = std::ranges::find_if(kept_, has_same);
  return found != kept_.end() ? std::optional(found->first_site) : std::nullopt;
}

}  // namespace dj
