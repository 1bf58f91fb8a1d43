// SPDX-License-Identifier: Apache-2.0
// Launched: a program started by djtap, stopped at the first moment at which probes can be armed:
// before any constructor of any of its libraries has run, a static one mostly before its first
// instruction.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/scout.h"
#include "runtime/process/stopped.h"

namespace dj {

struct LaunchOptions {
  std::optional<sigset_t>
      signal_mask;  // the program's; default: this thread's. (djtap blocks some for itself.)
};

// ForkedChild: a child of djtap that waits to become the program. Forking costs what djtap has in
// memory by then, and each of those pages that is written afterwards one fault more: so djtap forks
// before it does anything else. The child ends, nothing executed, when this or djtap goes.
class ForkedChild {
 public:
  // argv: as execvp takes it, not empty. Fail::Other: there is no process or descriptor to be had.
  static Result<ForkedChild> fork(const std::vector<std::string>& argv,
                                  const LaunchOptions& options = {});
  ForkedChild(ForkedChild&& other) noexcept;
  ~ForkedChild();
  const std::string& program() const { return program_; }
  pid_t pid() const { return pid_; }
  // Lets it execute the program; only once.
  void go();
  // Behind go(), when it has executed the program or ended: errno of the exec; 0: it executes it.
  int exec_errno();
  // Whoever takes the process from here on kills and reaps it.
  pid_t release() { return std::exchange(pid_, 0); }

 private:
  ForkedChild(std::string program, pid_t pid, int go, int report)
      : program_(std::move(program)), pid_(pid), go_(go), report_(report) {}
  std::string program_;
  pid_t pid_ = 0;
  int go_ = -1, report_ = -1;  // pipes: to the child, from it
};

struct Launched {
  pid_t pid = 0;
  Stopped stopped;  // one thread. Releasing it lets the program run, untraced, as djtap's child
  std::optional<Scout> scout;  // of a static program with TLS that stands at its entry point
};

// Starts the program as execvp does. Fail::NotFound: no such command (exit code 127);
// Fail::Permission and Unsupported: it cannot be executed (126); Other: djtap failed (125). Where
// it stands afterwards:
//   dynamic: in ld.so, all libraries mapped and relocated (r_debug RT_CONSISTENT);
//   static: the entry point;
//   static with TLS, where no scout can be had: fs is set and rseq, if the program uses it, is
//   registered.
// When djtap dies meanwhile the program goes on.
Result<Launched> launch(ForkedChild child);

// The same, forked now.
Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options = {});

}  // namespace dj
