// SPDX-License-Identifier: Apache-2.0
// ExitCode lists the exit codes of a djtap that ends before a command runs, or that runs none. Once
// a command runs, its status is the exit code, and kExitOwnFailure stands for failures of djtap
// itself.
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
