// SPDX-License-Identifier: Apache-2.0
// Limits of control groups (cgroups(7)) that a process is in, of version 1 and 2.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dj {

enum class GroupResource : uint8_t { Memory, Tasks };

// A limit of a group. Memory that the kernel can take back (pages of files that nobody uses) does
// not count as used.
struct GroupLimit {
  uint64_t most = 0, used = 0;  // bytes; threads
  std::string file;             // where `most` stands
  uint64_t left() const { return most > used ? most - used : 0; }
};

// The one that leaves least, of the process's group and those around it. Nothing: there is no
// limit, or none that djtap can see.
std::optional<GroupLimit> group_limit(pid_t pid, GroupResource resource);

}  // namespace dj
