// SPDX-License-Identifier: Apache-2.0
// ending_signals() returns the signals that tell djtap to end. The keys of a terminal, its closing,
// a supervisor and a limit of processor time send them. Each ends a program that sets no action for
// it, and none is a sign of a mistake in the program itself.
#pragma once
#include <signal.h>

namespace dj {

// Leaves out signals that djtap was told to ignore (SIGHUP by nohup): djtap goes on ignoring them.
// Always has SIGINT and SIGTERM, since shells ignore SIGINT for what they start with &.
sigset_t ending_signals();

}  // namespace dj
