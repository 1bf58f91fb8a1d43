// SPDX-License-Identifier: Apache-2.0
// ExecGate stops each thread of the machine that is about to execute a program, one of some or any,
// or to open one of some libraries, until djtap lets it pass: by permission events of fanotify(7),
// which take CAP_SYS_ADMIN.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

class ExecGate {
 public:
  // Watches `files` (paths as djtap sees them) from now on, and what replaces them. patience_ns: a
  // thread that waits longer passes by itself; in a session, while djtap compiles, it may take
  // seconds. Fails with Permission where djtap lacks the right, and with Other where the kernel has
  // no such events.
  static Result<std::unique_ptr<ExecGate>> open(const std::vector<std::string>& files,
                                                uint64_t patience_ns = 10'000'000'000);
  ExecGate(const ExecGate&) = delete;
  // Lets all threads pass. When djtap dies, the kernel does so.
  ~ExecGate();

  // Watches who opens these files, too: libraries, mostly opened by a program's loader.
  Status watch_libraries(const std::vector<std::string>& files);
  // Watches who executes any program, also of file systems that are mounted later. Returns where
  // those are mounted that it does not watch (ExecMarks::add_file_systems()).
  std::vector<std::string> watch_all_programs();
  // Lets a process and its children through without waiting, or no more: djtap is about to wait for
  // it, and it may wait for a child (vfork).
  void let_through(pid_t pid, bool is_through);

  // Visitor: a thread that waits.
  struct Visitor {
    pid_t tid;
    bool opens_library;  // in open(); else in execve()
    std::string file;    // as djtap sees it
  };
  // From now on visitors do not wait where `passes` says so of them and their process. Another
  // thread calls it.
  void let_pass_if(std::function<bool(const Visitor&, pid_t pid)> passes);
  // Readable (poll) when next() returns a thread.
  int fd() const;
  // Returns a thread that waits; empty: none does. djtap, what descends from it and who reads its
  // output pass at once: djtap may wait for it.
  std::optional<Visitor> next();
  // Lets a thread pass that next() has returned.
  void let_pass(pid_t tid);
  // With false, lets all threads pass and watches no file; with true, watches again. Call it around
  // a stop of djtap (SIGTSTP), which would hold the threads up.
  void set_watching(bool watches);
  // Returns how many threads have passed by themselves since the last call.
  uint32_t take_missed();

 private:
  struct Watch;
  explicit ExecGate(std::unique_ptr<Watch> watch);
  std::unique_ptr<Watch> watch_;
};

}  // namespace dj
