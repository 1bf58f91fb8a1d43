// SPDX-License-Identifier: Apache-2.0
// View: what of the machine a djtap sees that has become the equal (rights.h) of a process which
// sees other files or processes: a container, a chroot, a sandbox. It sees the files of the
// process at their own names, without a way to change them; /proc as djtap saw it; and djtap's own
// files that it needs. In a user namespace of its own it can touch no process, so that whatever is
// done to one is done by the broker (broker.h).
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/rights.h"

namespace dj {

// Enters it for good: mount_namespaces(7), user_namespaces(7), and the network, IPC, UTS and cgroup
// namespaces of the process. pidfd: of the process; own: files and folders of djtap's own, which
// keep their names. djtap must have one thread, CAP_SYS_ADMIN, and Linux 5.12. On failure djtap has
// to end: it may be halfway there.
Status enter_view(pid_t pid, int pidfd, const Rights& theirs, const std::vector<std::string>& own);

// Has djtap entered one?
bool is_in_view();
const std::string& root_in_view();  // where the target's root folder lay; empty: at the root

// By which name djtap reaches a file of a process: /proc/PID/root before `path`, which is a name of
// /proc/PID/maps; in a view where the files of its process lie there.
std::string name_by_root(pid_t pid, const std::string& path);

}  // namespace dj
