// SPDX-License-Identifier: Apache-2.0
// wait_for_news() lets djtap sleep until a thread that it traces has stopped or ended. Where djtap
// asked again and again, that thread was slower: on a virtual machine with two processors, to
// execute a program takes twice as long beside a thread that spins.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace dj {

// How long a wait lasts whose end no SIGCHLD tells: djtap looks at its deadlines meanwhile.
constexpr uint64_t kNewsLimitNs = 5'000'000;

// Sleeps `limit_ns` nanoseconds at most. Returns earlier when a SIGCHLD comes for whatever process,
// at once if one has come since the last call, so look behind it what has happened. No SIGCHLD is
// kept where no HeldSignals block it, and none comes to djtap if the broker traces the thread
// `tid`: then it sleeps 50 microseconds.
void wait_for_news(pid_t tid, uint64_t limit_ns = kNewsLimitNs);

// From here on djtap does not ignore SIGCHLD, which its parent may have let it do: no stop would be
// told then, and no exit status of a child.
void hear_of_children();

// Lets the program that a child of djtap is about to execute ignore SIGCHLD if djtap did before
// hear_of_children(). It is safe behind fork() in a program with threads.
void inherit_child_signal();

}  // namespace dj
