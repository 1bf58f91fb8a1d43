// SPDX-License-Identifier: Apache-2.0
// ExecTracee follows one thread of a traced program, which is about to call execve(2), to the start
// of the program that it executes; or one whose loader opens a library.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "compiler/base/result.h"
#include "runtime/process/launch.h"

namespace dj {

// ExecTracee is the thread, traced. djtap never kills it: whatever fails, and when djtap dies, the
// program goes on untraced. Its signals are delivered to it, a stop of job control stops it, and
// its wait status is its parent's, also where djtap is the parent. All functions are to be called
// in the thread of djtap that called seize(). While an ExecTracee holds a thread, Stopped cannot
// stop the thread's process.
class ExecTracee {
 public:
  enum class State : uint8_t {
    Running,  // on its way to the exec; or stopped by job control
    AtExec,   // in the stop of PTRACE_EVENT_EXEC: the new program has executed nothing yet
    Stands,   // in the stop that stop_soon() asked for
    LetGo,    // not traced any more
    Ended,    // the thread: killed, exited, or its process has executed a program in another thread
  };

  // Traces thread `tid` without stopping it. Fails with Permission or TargetGone.
  static Result<ExecTracee> seize(pid_t tid);
  ExecTracee(ExecTracee&& other) noexcept;
  ExecTracee& operator=(ExecTracee&& other) noexcept;
  ~ExecTracee();  // let_go()

  // Carries on what has happened to the thread, without waiting, and returns its state. Call it
  // again and again until the state is another than Running: each signal and each stop holds the
  // thread up until then, and its end is hidden from its parent. djtap gets a SIGCHLD at each.
  State poll();
  State state() const { return state_; }
  // The process of the thread. An exec in a thread other than the first one takes over the number
  // of the process.
  pid_t pid() const { return pid_; }

  // Stops the thread as soon as it is out of the kernel; poll() tells.
  void stop_soon();
  // Opening: what a thread has opened a library for.
  enum class Opening : uint8_t {
    Reading,  // it is no loader
    Start,    // the loader of a program that has executed nothing yet
    Later,    // a loader, of a program that runs or may run
  };
  // Tells it by where the thread stands. Call it in State::Stands, behind its open().
  Opening opening() const;

  // Leads the new program to the place at which launch() has one, in `limit_ns` nanoseconds at
  // most; a static program with TLS to where fs is set. Call it in State::AtExec, or in
  // State::Stands of an Opening::Start. Then
  // Launched::stopped holds the process, and this object has let it go. On failure the program goes
  // on with its own code; kinds as of launch(), and TargetGone if it has ended.
  Result<Launched> reach_start(uint64_t limit_ns = 5'000'000'000);

  // Leaves the thread where it stands to the next Stopped::stop() of its process. Call it in
  // State::Stands.
  void hand_over();
  // Stops tracing: an exec has failed, or is not to be followed. Waits up to `limit_ns` nanoseconds
  // until the thread can be let go of. False: it waits in the kernel (a vfork, a device). Then
  // poll() lets it go as soon as it can be, and returns Running until then; if this object dies
  // before, seize() and let_go_of_late() do so.
  bool let_go(uint64_t limit_ns = 2'000'000'000);
  // Lets go of threads that could not be let go of when their object died. True: none is left.
  static bool let_go_of_late();

 private:
  ExecTracee(pid_t tid, pid_t pid) : tid_(tid), first_tid_(tid), pid_(pid) {}
  pid_t next_status(int* status);
  void carry_on(int status);
  void detach(int signal);
  void give_back(const Tracee& tracee);

  pid_t tid_;        // the number that it has
  pid_t first_tid_;  // the one that it had when it was seized
  pid_t pid_;
  State state_ = State::Running;
  bool is_leaving_ = false;  // is let go of at its next stop
  bool stops_soon_ = false;  // stop_soon() was called
};

}  // namespace dj
