// SPDX-License-Identifier: Apache-2.0
// examine_machine() and examine_files() find out what of djtap works on this machine, for this
// user, whatever the target is.
#pragma once
#include "runtime/run/doctor/finding.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Examines the kernel, and what it lets djtap do. Call it with djtap's own rights and one thread.
void examine_machine(Findings& findings);

// Examines djtap's own files as a session sees them: with the rights that djtap then has.
void examine_files(const NeededFiles& files, Findings& findings);

}  // namespace dj
