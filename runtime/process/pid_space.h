// SPDX-License-Identifier: Apache-2.0
// Numbers of processes in a pid namespace of their own (containers): a process knows itself, its
// group and its session processes by others than djtap does.
#pragma once
#include <sys/types.h>

namespace dj {

// What a process has for numbers there; those that djtap has for it where it cannot be asked.
struct OwnNumbers {
  pid_t pid = 0, ppid = 0, pgrp = 0, sid = 0;  // ppid 0: a process outside
};
OwnNumbers own_numbers(pid_t pid);  // pid: by djtap's numbers

// The process that has the number `own` in the pid namespace of `processes`; 0: there is none.
pid_t number_seen(pid_t own, pid_t processes);

}  // namespace dj
