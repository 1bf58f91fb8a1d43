// SPDX-License-Identifier: Apache-2.0
// What of djtap works on this machine, for this user, whatever the target is.
#pragma once
#include "runtime/run/doctor/finding.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// The kernel, and what it lets djtap do. To be called with djtap's own rights and one thread.
void examine_machine(Findings& findings);

// djtap's own files, as a session comes to them: with the rights that it has then.
void examine_files(const NeededFiles& files, Findings& findings);

}  // namespace dj
