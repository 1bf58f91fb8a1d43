// SPDX-License-Identifier: Apache-2.0
// examine_kernel() finds out whether djtap can probe the kernel, for this user. Those who probe
// processes need none of it: what is missing is a note, which never changes the exit code.
#pragma once
#include "runtime/run/doctor/finding.h"

namespace dj {

// Call it with djtap's own rights. Loads and builds nothing.
void examine_kernel(Findings& findings);

}  // namespace dj
