// SPDX-License-Identifier: Apache-2.0
// ExitCode: the exit codes of what ends before a command runs, or without one. Once a command runs,
// its status is the exit code, and kExitOwnFailure stands for failures of djtap's own.
#pragma once

namespace dj {

enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 1,
  kExitSyntax = 2,
  kExitScript = 3,   // wrong script, or nothing to probe
  kExitAttach = 4,   // no such process, no permission, target gone while attaching
  kExitRun = 5,      // script errors at run time
  kExitLimited = 6,  // doctor: not all works
  kExitOwnFailure = 125,
  kExitNotExecutable = 126,
  kExitNotFound = 127,
};

}  // namespace dj
