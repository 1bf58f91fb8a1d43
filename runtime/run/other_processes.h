// SPDX-License-Identifier: Apache-2.0
// join_others() has the processes join that run when a session begins, beside its first: those of
// the command line and what they have started, or those of the machine that the script means.
#pragma once
#include <cstdint>

#include "runtime/run/followed_execs.h"
#include "runtime/run/found_target.h"
#include "runtime/run/joined_processes.h"

namespace dj {

struct OthersInput {
  FoundTarget& found;  // `unprobed` tells of those that cannot be probed
  JoinedProcesses& joined;
  FollowedExecs* execs;  // is asked in between; null: no exec is followed
  bool writable_text;    // ProcessInput
  uint64_t data;         // inode of the session's data
};

void join_others(const OthersInput& input);

}  // namespace dj
