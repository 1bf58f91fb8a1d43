// SPDX-License-Identifier: Apache-2.0
// leave_first_process() lets djtap be the command of a container, where it is process 1 of a pid
// namespace: the kernel gives that process all orphans, and takes no signal to it that it does not
// handle (pid_namespaces(7)). A child of it is djtap then, and it does what an init does.
#pragma once

namespace dj {

// Returns at once where djtap is another process than number 1, or may start none. Else it returns
// in a child alone, with the signal mask and actions of before. Process 1 reaps whatever ends,
// hands the child the signals that other processes send (those of the terminal reach both), and
// ends as the child does: with its exit code, or 128 + its signal. Call it before djtap has threads.
void leave_first_process();

}  // namespace dj
