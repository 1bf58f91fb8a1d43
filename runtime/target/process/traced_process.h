// SPDX-License-Identifier: Apache-2.0
// TracedProcess holds a process that djtap has launched or is to attach to, before djtap changes
// it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/target_facts.h"
#include "runtime/process/exec_tracee.h"
#include "runtime/process/launch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"

namespace dj {

// UnstartedChild: a launched program that djtap has not let run yet. The destructor kills it: for
// its user it was never started.
class UnstartedChild {
 public:
  UnstartedChild() = default;
  explicit UnstartedChild(pid_t pid) : pid_(pid) {}
  UnstartedChild(UnstartedChild&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  UnstartedChild& operator=(UnstartedChild&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~UnstartedChild();
  void let_run() { pid_ = 0; }
  bool is_waiting() const { return pid_ > 0; }

 private:
  pid_t pid_ = 0;
};

// TracedProcess: the target before djtap changes it. A launched one is ptrace-stopped before its
// first constructor (launch.h) until the session lets it go, or this object is destroyed. A running
// one runs on.
struct TracedProcess {
  TracedProcess() = default;
  explicit TracedProcess(Launched launched);  // without its modules

  pid_t pid = 0;
  bool is_child = false;             // of djtap: a launched one
  bool stands = false;               // until the session lets it go: launched, or just executed
  std::optional<Stopped> stopped;    // all its threads, of one that stands
  bool at_loader_call = false;       // of one that stands: ProgramStart::at_loader_call
  std::optional<ExecTracee> opener;  // of a running one: its loader is opening a library
  UnstartedChild unstarted;          // of a launched one; dies before `stopped` lets go
  std::optional<Scout> scout;        // of one that stands; goes when the session has been created
  std::vector<MappedModule> modules;
  bool rseq_registered = false;  // or will be; both by find_rseq()
  int64_t rseq_offset = 0;

  // Executes the child's program, and stops it there.
  static Result<TracedProcess> launch(ForkedChild child);
  // Takes a process that stands at the begin of a program that it has executed.
  static Result<TracedProcess> executed(Launched launched);
  // Takes a running process whose loader waits in the middle of its work. Fails as open() does. It
  // stands from the first look of the session at its threads until it is armed.
  static Result<TracedProcess> opening(ExecTracee opener);
  // Takes a process in the middle of its run, all of whose threads stand. It stands until it is
  // armed.
  static Result<TracedProcess> standing(Stopped stopped);
  // Looks at a running process without stopping it. Fails if djtap may not trace it, or another
  // djtap has its probes there.
  static Result<TracedProcess> open(pid_t pid);
  // Finds where the threads' rseq areas are. It stops a running process for that only if glibc does
  // not say so.
  Status find_rseq();
  // Returns what patches may assume. Call it after find_rseq(). has_rseq: handlers trust the rseq
  // areas. It stops a running process only if seccomp filters confine it. facts().read_word is good
  // as long as no session holds the process.
  Result<TargetFacts> facts(bool has_rseq) const;
};

// Returns a reader of words in the memory of this process, which may run.
ReadWord word_reader(pid_t pid);

}  // namespace dj
