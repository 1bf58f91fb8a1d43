// SPDX-License-Identifier: Apache-2.0
// Rights holds what the kernel lets a process do, as far as djtap compares it with what djtap
// itself may do: users, groups, capabilities, and what of the machine the process sees.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// Credentials says who a process is (credentials(7)).
struct Credentials {
  pid_t process = 0;               // the process of the thread
  std::array<uid_t, 4> uids = {};  // real, effective, saved, of the file system
  std::array<gid_t, 4> gids = {};  // in the same order
  std::vector<gid_t> groups;       // supplementary ones, ascending
  uint64_t capabilities = 0;       // permitted ones, a bit each
  uint64_t user_space = 0;         // inode of the user namespace (namespaces(7))
};

struct Rights : Credentials {
  uint64_t mount_space = 0, pid_space = 0, network_space = 0, ipc_space = 0;
  std::string root;                // where its root folder lies: "/", or that of a chroot
};

// Returns who the thread's process is now. Fails like rights_of().
Result<Credentials> credentials_of(pid_t tid);

// Returns what the process may do now. Fails when it has ended, or djtap may not look at its
// namespaces.
Result<Rights> rights_of(pid_t pid);

// Whether `mine` has a right that `theirs` lacks, or belongs to another user.
bool exceed(const Rights& mine, const Rights& theirs);

// Whether `theirs` sees the same files, processes, networks and IPC objects as `mine`.
bool share_view(const Rights& mine, const Rights& theirs);

// Whether a process with `mine` may take the users and groups of `theirs`.
bool can_take(const Rights& mine, const Rights& theirs);

// Makes djtap an equal of the process with `theirs`, for good: its users and groups (where
// can_take() says so), no capabilities, no_new_privs, not dumpable, no system calls that only
// processes with rights need (call_list.h). Makes descriptors above stderr close on exec, and
// leaves of the environment only words about how to print and where programs lie. djtap must have
// one thread. On failure djtap has to end: it may have given up some rights and not others.
Status become_equal(const Rights& mine, const Rights& theirs);

}  // namespace dj
