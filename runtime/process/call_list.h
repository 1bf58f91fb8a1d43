// SPDX-License-Identifier: Apache-2.0
// The system calls that a djtap without rights does without: they are for who administers the
// machine, or are large doors into the kernel that no session needs.
#pragma once
#include "compiler/base/result.h"

namespace dj {

// From here on they fail with EPERM in djtap, in all of its threads, and in what it starts. Needs
// no_new_privs. in_view: also what would be done to other processes (view.h).
Status deny_calls(bool in_view);

// How many seccomp filters djtap has put on itself: 0 or 1.
int own_call_lists();

}  // namespace dj
