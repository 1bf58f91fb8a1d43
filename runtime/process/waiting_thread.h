// SPDX-License-Identifier: Apache-2.0
// find_waiting_thread() finds the thread of a session that waits at a word of the session's memory.
// What the thread says of itself may be a lie, and in a pid namespace of its own (containers) it
// knows itself by another number than djtap does. Where it waits the kernel says.
#pragma once
#include <cstdint>

namespace dj {

// Returns djtap's number of the thread that waits in futex(2) at address `word` and knows itself by
// the number `own`, of a process that has the file `inode` of a session mapped; 0: there is none.
// likely: djtap's number for it if it is in the namespace of the target, 0: there is no such
// thread. Where the kernel does not say where that one waits (/proc/PID/syscall, proc(5)), and
// where none is found and that one runs, the result is `likely`. Takes up to 2 ms where the thread
// does not wait yet.
int find_waiting_thread(uint64_t word, int own, uint64_t inode, int likely);

}  // namespace dj
