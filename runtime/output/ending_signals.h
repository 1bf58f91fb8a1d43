// SPDX-License-Identifier: Apache-2.0
// Signals that tell djtap to end, as the keys of a terminal, its closing, a supervisor and a limit
// of processor time send them. Each would end a program that does not ask for it, and none is a
// sign of a mistake in the program itself.
#pragma once
#include <signal.h>

namespace dj {

// Without those that djtap was told to ignore (SIGHUP by nohup): they stay so. SIGINT and SIGTERM
// are always among them, since shells ignore the first for what they start with &.
sigset_t ending_signals();

}  // namespace dj
