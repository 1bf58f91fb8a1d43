// SPDX-License-Identifier: Apache-2.0
// report_sites() and its siblings print the sites of a target as text on stderr.
#pragma once
#include <vector>

#include "runtime/patch/installed_site.h"

namespace dj {

// Prints one line a site (--probes).
void report_sites(const std::vector<InstalledSite>& sites);
// Prints the sites that are no plain jump, with the reason and their guard traps: the first
// hundred, and the number of the others.
void report_unusual_sites(const std::vector<InstalledSite>& sites);
// Warns of the sites that could not be armed at all: one line a reason.
void warn_skipped_sites(const std::vector<InstalledSite>& sites);

}  // namespace dj
