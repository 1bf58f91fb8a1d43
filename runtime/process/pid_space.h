// SPDX-License-Identifier: Apache-2.0
// own_numbers(), number_seen(): translate the numbers of processes between djtap and a pid
// namespace of their own (containers). There a process knows itself, its group and its session by
// other numbers than djtap does.
#pragma once
#include <sys/types.h>

namespace dj {

// OwnNumbers holds the numbers that a process has in its own namespace; djtap's numbers for it if
// djtap cannot read them.
struct OwnNumbers {
  pid_t pid = 0, ppid = 0, pgrp = 0, sid = 0;  // ppid 0: a process outside
};
OwnNumbers own_numbers(pid_t pid);  // pid: by djtap's numbers
// The first of them alone, which is there sooner.
pid_t own_number(pid_t pid);

// Returns djtap's number of the process that has the number `own` in the pid namespace of
// `processes`; 0: there is none.
pid_t number_seen(pid_t own, pid_t processes);

}  // namespace dj
