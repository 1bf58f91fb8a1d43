// SPDX-License-Identifier: Apache-2.0
// Sites of a target as text on stderr.
#pragma once
#include <vector>

#include "runtime/patch/installed_site.h"

namespace dj {

// One line a site (--probes).
void report_sites(const std::vector<InstalledSite>& sites);
// Those that are no plain jump, with the reason and their guard traps; the first hundred.
void report_unusual_sites(const std::vector<InstalledSite>& sites);
// Warnings about sites that could not be armed at all, one line a reason.
void warn_skipped_sites(const std::vector<InstalledSite>& sites);

}  // namespace dj
