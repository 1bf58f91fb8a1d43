// SPDX-License-Identifier: Apache-2.0
// launch() starts a program and stops it at the first moment at which djtap can arm probes: before
// a constructor of any of its libraries has run; a static program mostly before its first
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

// ForkedChild is a child of djtap that waits to become the program. A fork costs more the more
// memory djtap has, and one more fault for each of those pages that djtap writes afterwards: so
// djtap forks before it does anything else. The child ends without executing the program when this
// object or djtap ends before go().
class ForkedChild {
 public:
  // Forks. argv: as execvp takes it, not empty. Fails with Fail::Other when the kernel gives no
  // process or descriptor.
  static Result<ForkedChild> fork(const std::vector<std::string>& argv,
                                  const LaunchOptions& options = {});
  ForkedChild(ForkedChild&& other) noexcept;
  ~ForkedChild();
  const std::string& program() const { return program_; }
  pid_t pid() const { return pid_; }
  // Lets the child execute the program. Call it once.
  void go();
  // Returns the errno of the exec; 0: the child executes the program. Call it behind go(), when the
  // child has executed the program or ended.
  int exec_errno();
  // Hands the process to the caller, who kills and reaps it from here on.
  pid_t release() { return std::exchange(pid_, 0); }

 private:
  ForkedChild(std::string program, pid_t pid, int go, int report)
      : program_(std::move(program)), pid_(pid), go_(go), report_(report) {}
  std::string program_;
  pid_t pid_ = 0;
  int go_ = -1, report_ = -1;  // pipes: to the child, from it
};

// Lets the child execute the program, untraced: djtap's child, which the caller waits for. Fails as
// launch() does where it cannot be executed.
Status run_untraced(ForkedChild& child);

struct Launched {
  pid_t pid = 0;
  Stopped stopped;  // one thread; its release lets the program run, untraced, as djtap's child
  std::optional<Scout> scout;   // of a static program with TLS that stands at its entry point
  bool at_loader_call = false;  // ProgramStart::at_loader_call
};

// Starts the program as execvp does. Fails with Fail::NotFound: no such command (exit code 127);
// Permission or Unsupported: the kernel cannot execute it (126); Other: djtap failed (125).
// Afterwards the program stands at one of these places:
//   dynamic: in ld.so, all libraries mapped and relocated (r_debug RT_CONSISTENT);
//   static: the entry point;
//   static with TLS, where no scout can be had: fs is set and rseq, if the program uses it, is
//   registered.
// If djtap dies meanwhile, the program goes on.
Result<Launched> launch(ForkedChild child);

// Forks and launches.
Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options = {});

}  // namespace dj
