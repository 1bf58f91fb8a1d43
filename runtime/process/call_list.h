// SPDX-License-Identifier: Apache-2.0
// deny_calls() takes system calls away from a djtap without rights: those that only an
// administrator of the machine needs, and those that are large doors into the kernel and that no
// session needs.
#pragma once
#include "compiler/base/result.h"

namespace dj {

// Makes these calls fail with EPERM from here on, in all threads of djtap and in the processes that
// it starts. Needs no_new_privs. in_view: also those that act on other processes (view.h).
Status deny_calls(bool in_view);

// Returns how many seccomp filters djtap has put on itself: 0 or 1.
int own_call_lists();

}  // namespace dj
