// SPDX-License-Identifier: Apache-2.0
// Rights: what the kernel lets a process do, as far as djtap compares it with what djtap may do
// itself: users, groups, capabilities, and what of the machine it sees.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// Credentials (credentials(7)): who a process is.
struct Credentials {
  pid_t process = 0;               // of the thread that was asked for
  std::array<uid_t, 4> uids = {};  // real, effective, saved, of the file system
  std::array<gid_t, 4> gids = {};  // the same
  std::vector<gid_t> groups;       // supplementary ones, ascending
  uint64_t capabilities = 0;       // permitted ones, a bit each
  uint64_t user_space = 0;         // inode of the user namespace (namespaces(7))
};

struct Rights : Credentials {
  uint64_t mount_space = 0, pid_space = 0, network_space = 0, ipc_space = 0;
  std::string root;                // where its root folder lies: "/", or that of a chroot
};

// Who the thread's process is now. Fails as rights_of().
Result<Credentials> credentials_of(pid_t tid);

// What the process may do now. Fails when it is gone, or its namespaces may not be looked at.
Result<Rights> rights_of(pid_t pid);

// Has `mine` a right that `theirs` has not, or another user's?
bool exceed(const Rights& mine, const Rights& theirs);

// Sees `theirs` the same files, processes, networks and IPC objects as `mine`?
bool share_view(const Rights& mine, const Rights& theirs);

// May a process with `mine` take the users and groups of `theirs`?
bool can_take(const Rights& mine, const Rights& theirs);

// Makes djtap an equal of the process with `theirs`, for good: its users and groups (where
// can_take() says so), no capabilities, no_new_privs, not dumpable, no system calls that only
// rights are for (call_list.h). Descriptors above stderr are closed on exec, and of the environment
// only words about how to print and where programs lie are left. djtap must have one thread. On
// failure djtap has to end: it may have given up some rights and not others.
Status become_equal(const Rights& mine, const Rights& theirs);

}  // namespace dj
