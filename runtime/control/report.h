// The end of a session as text: globals that nobody read, hits that did not do all they should
// have, sites.
#pragma once
#include <string>
#include <vector>

#include "compiler/layout.h"
#include "compiler/plan.h"
#include "compiler/program.h"
#include "runtime/control/install.h"
#include "runtime/control/output.h"

namespace dj {

// Globals that were written and never read, in SystemTap's format: name=5, name["key",1]=4 by
// descending value, name @count=4 @min=1 @max=4 @sum=10 @avg=2. Reads the arena at layout.base.
void report_globals(const Program& program, const Layout& layout, Output& output);

// One line for every reason in Header::skipped that happened, on stderr.
void report_skips(const abi::Header& header);

// One line a site (--probes), on stderr.
void report_sites(const std::vector<InstalledSite>& sites);
// Warnings about sites that could not be armed at all, one line a reason, on stderr.
void warn_skipped_sites(const std::vector<InstalledSite>& sites);

}  // namespace dj
