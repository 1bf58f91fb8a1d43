// Launched: a program started by djtap, stopped at the first moment at which probes can be armed:
// before any constructor of any of its libraries has run.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "compiler/result.h"
#include "runtime/control/stopped.h"

namespace dj {

struct LaunchOptions {
  std::optional<sigset_t>
      signal_mask;  // the program's; default: this thread's. (djtap blocks some for itself.)
};

struct Launched {
  pid_t pid = 0;
  Stopped stopped;  // one thread. Releasing it lets the program run, untraced, as djtap's child
};

// Starts argv as execvp does. Fail::NotFound: no such command (exit code 127); Fail::Permission and
// Unsupported: it cannot be executed (126); Other: djtap failed (125). Where it stands afterwards:
//   dynamic: in ld.so, all libraries mapped and relocated (r_debug RT_CONSISTENT);
//   static with TLS: fs is set and rseq, if the program uses it, is registered;
//   static without TLS: the entry point.
// When djtap dies meanwhile the program goes on.
Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options = {});

}  // namespace dj
