// SPDX-License-Identifier: Apache-2.0
// Task describes the process that a handler of process.begin or process.end is about. djtap itself
// runs such a handler, so what the kernel says of the running thread would be djtap's.
#pragma once
#include <stdint.h>

namespace dj::abi {

// In djtap's own memory. Written by the controller (process/target_task.h), read by built-ins that
// say who the current process is.
struct Task {
  int64_t pid, tid, ppid, pgrp, sid;
  int64_t uid, euid, gid, egid;
  char name[16];       // ended by 0 unless all are used
  uint64_t arguments;  // address of what /proc/PID/cmdline holds
  uint64_t argument_bytes;
  uint64_t environment;  // the same of /proc/PID/environ
  uint64_t environment_bytes;
};

}  // namespace dj::abi
