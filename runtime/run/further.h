// SPDX-License-Identifier: Apache-2.0
// Further holds what comes to a session while it runs: objects, processes, programs.
#pragma once
#include "runtime/run/dlopened_objects.h"
#include "runtime/run/followed_execs.h"
#include "runtime/run/joined_processes.h"

namespace dj {

struct Further {
  DlopenWatch& objects;
  JoinedProcesses& processes;
  FollowedExecs* execs;  // null: what processes execute is not followed
};

}  // namespace dj
