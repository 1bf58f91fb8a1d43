// SPDX-License-Identifier: Apache-2.0
// SessionRun runs one session, from its detours to its last report. Each verb is a step of the
// chain that main.cpp shows.
#pragma once
#include <memory>
#include <optional>

#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/output/drain.h"
#include "runtime/output/output.h"
#include "runtime/process/exit_watch.h"
#include "runtime/run/arming.h"
#include "runtime/run/followed_execs.h"
#include "runtime/run/host_probes.h"
#include "runtime/run/joined_processes.h"
#include "runtime/run/prepared.h"
#include "runtime/run/take_out.h"
#include "runtime/session/control_socket.h"
#include "runtime/session/jit_watch.h"
#include "runtime/session/loop.h"
#include "runtime/session/monitor.h"
#include "runtime/session/stress.h"
#include "runtime/target/process/process_target.h"

namespace dj {

class SessionRun {
 public:
  // All references must outlive this object.
  SessionRun(const Prepared& prepared, const SessionChoices& steering, const StageChoices& stages,
             const StressChoices& stress);
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  // Call the verbs in this order. A verb that returns an exit code has said why, and has left the
  // target as it was: the session is over.

  // Opens what the session writes to, and the socket of --control.
  std::optional<int> open(const ReportChoices& report, const CommandLine& line);
  // Maps the arena, links the handlers and writes the detours of the plan's patches.
  std::optional<int> build_detours(bool writable_text, bool thread_rows);
  // Runs the begin probes in djtap, while a launched target still stands.
  std::optional<int> begin(const ReportChoices& report, const CommandLine& line);
  // Writes the patches into the target's text; from then on it runs.
  std::optional<int> arm();
  // Writes what handlers print until the session is to end.
  void trace();
  // Puts the target's text back. Call it also if an exception has left trace().
  void restore();
  // Runs the end probes, and writes globals and reports. Returns the session's exit code.
  int report(const ReportChoices& report);

  // Waits for the end of the target and returns its exit code, if djtap has launched it; empty:
  // djtap has not. Resets `held` before, so that Ctrl-C ends the wait.
  std::optional<int> exit_code_of_command(std::optional<HeldSignals>& held);

 private:
  struct Watches {
    std::optional<ExitWatch> exit;  // empty: there is no target
    std::optional<ArmingWatch> arming;
    std::unique_ptr<JitWatch> jit;  // null: no handler names code
  };
  struct Ending {
    Result<Ended> ended = Ended::TargetExited;
    StressFacts facts;  // with --stress
    TakenOut taken;
  };
  int fail_arming(const Error& error);
  int fail_command(const Error& error);
  TakenOut take_out();
  StressFacts stress_facts_now() const;
  static std::string program_name(int pid);
  JoinedProcesses further_processes(FurtherPlans& plans);
  void join_others(JoinedProcesses& joined, FollowedExecs* execs);
  void watch_outsiders();
  uint64_t data_inode() const;
  void name_stacks();
  Outsiders outsiders() const;
  void hear_who_leaves();
  bool is_by_errors() const;

  Prepared prepared_;
  const SessionChoices& steering_;
  const StageChoices& stages_;
  const StressChoices& stress_;
  std::optional<Output> output_;          // behind open()
  std::optional<ControlSocket> control_;  // empty: no --control
  std::optional<Session> session_;        // behind build_detours()
  std::optional<HostProbes> host_probes_;
  std::unique_ptr<Monitor> monitor_;  // null: no --monitor, or it is over
  std::optional<Drain> drain_;        // behind begin()
  Watches watches_;
  Ending ending_;
};

}  // namespace dj
