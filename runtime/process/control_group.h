// SPDX-License-Identifier: Apache-2.0
// group_limit() finds the limits of the control groups (cgroups(7)) that a process is in, of
// version 1 and 2.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dj {

enum class GroupResource : uint8_t { Memory, Tasks };

// GroupLimit is a limit of one group. Memory that the kernel can take back (pages of files that no
// process uses) does not count as used.
struct GroupLimit {
  uint64_t most = 0, used = 0;  // bytes; threads
  std::string file;             // the file that holds `most`
  uint64_t left() const { return most > used ? most - used : 0; }
};

// Returns the limit that leaves least, among the process's group and the groups around it. Empty:
// djtap sees no limit.
std::optional<GroupLimit> group_limit(pid_t pid, GroupResource resource);

}  // namespace dj
