// The target as the command line names it, and what the compiler may know of it.
#pragma once
#include <optional>

#include "compiler/resolve/resolve.h"
#include "compiler/result.h"
#include "runtime/control/options.h"
#include "runtime/control/session.h"

namespace dj {

// The target as the command line names it; null when there is none.
Result<std::optional<TracedProcess>> find_target(const Options& options,
                                                 const sigset_t& child_mask);

// Says why the target could not be launched or opened. Returns the exit code (126, 127 as a
// shell's).
int target_failure(const Options& options, const Error& error);

// Files and mappings of the target; without one, of nobody. printers: for texts; may be null.
TargetFiles target_files(const std::optional<TracedProcess>& process,
                         const TypePrinters* printers = nullptr);

}  // namespace dj
