// SPDX-License-Identifier: Apache-2.0
// enter_view() gives djtap a view: what it sees of the machine as the equal (rights.h) of a process
// that sees other files or processes (a container, a chroot, a sandbox). In a view djtap sees the
// files of the process at their own names, without a way to change them; /proc as djtap saw it
// before; and those of djtap's own files that it needs. In a user namespace of its own djtap can
// touch no process: the broker (broker.h) does whatever djtap does to one.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/rights.h"

namespace dj {

// Enters the view for good: mount_namespaces(7), user_namespaces(7), and the network, IPC, UTS and
// cgroup namespaces of the process. pidfd: of the process. own: files and folders of djtap's own,
// which keep their names. djtap must have one thread and CAP_SYS_ADMIN, and needs Linux 5.12. On
// failure djtap has to end: it may be halfway there.
Status enter_view(pid_t pid, int pidfd, const Rights& theirs, const std::vector<std::string>& own);

// Whether djtap has entered a view.
bool is_in_view();
const std::string& root_in_view();  // where the target's root folder lay; empty: at the root

// Returns the name by which djtap reaches a file of a process: /proc/PID/root before `path`, which
// is a name from /proc/PID/maps; in a view, where the files of the process lie there.
std::string name_by_root(pid_t pid, const std::string& path);

}  // namespace dj
