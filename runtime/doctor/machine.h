// SPDX-License-Identifier: Apache-2.0
// What of djtap works on this machine, for this user, whatever the target is.
#pragma once
#include "runtime/command/options.h"
#include "runtime/doctor/finding.h"

namespace dj {

// The kernel, and what it lets djtap do. To be called with djtap's own rights and one thread.
void examine_machine(const Options& options, Findings& findings);

// djtap's own files, as a session comes to them: with the rights that it has then.
void examine_files(const Options& options, Findings& findings);

}  // namespace dj
