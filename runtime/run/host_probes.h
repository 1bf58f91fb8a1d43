// SPDX-License-Identifier: Apache-2.0
// HostProbes runs the probes whose handlers djtap runs itself, in the order of a session: begin,
// process.begin and oneshot, input, process.end of children, then error or end. The session's loop
// runs timers.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/output/drain.h"
#include "runtime/output/key_input.h"
#include "runtime/process/child_watch.h"
#include "runtime/process/target_task.h"
#include "runtime/run/arming.h"
#include "runtime/session/session.h"

namespace dj {

class HostProbes {
 public:
  // `session` and `plan` must outlive this object. pid: of the probed process; 0: there is none.
  HostProbes(Session& session, const Plan& plan, int pid);
  HostProbes(const HostProbes&) = delete;
  HostProbes& operator=(const HostProbes&) = delete;

  // Returns the function that takes what the drain hears of forked children (DrainInput::child).
  std::function<void(const abi::ChildPayload&, bool)> told();
  // Runs begin, process.begin and oneshot probes. Call it before the target runs on. After a
  // oneshot probe the session ends.
  void run_first();
  // Runs the begin and oneshot probes of those that were added to the plan from `first` of
  // Plan::added_hosts on, and their process.begin probes for these processes.
  void run_added(size_t first, const std::vector<int>& pids);
  // Runs process.begin for a process that is about to join the session. Before, if it has been one
  // of the session and has executed another program, runs process.end for what it was.
  void run_joining(int pid);
  // Runs the error probes. Call it after errors in run_first().
  void run_error();
  bool wants_ends() const { return has(HostProbe::When::ProcessEnd); }
  bool wants_input() const { return has(HostProbe::When::Input); }
  // Runs the input probes for each byte that has come.
  void run_input(KeyInput& input, ArmingWatch& arming);
  // Runs process.end for forked children that could not report their end, up to where `drain` has
  // written.
  void run_child_ends(const Drain& drain);
  // Runs process.end for the first process, whose end is not that of the session. Call it when that
  // has ended; only the first call counts.
  void run_first_end(Drain& drain);
  // Runs the last probes. Call it when no handler runs in the target any more. target_gone: the
  // target has ended. by_errors: there were too many errors, so error probes run instead of end
  // probes.
  void run_last(bool target_gone, bool by_errors, Drain& drain);

 private:
  using Probes = std::span<const HostProbe>;
  bool has(HostProbe::When when) const;
  // task: the process for which they run; null: for none.
  void run(HostProbe::When when, const TargetTask* task = nullptr);
  void run_these(Probes probes, HostProbe::When when, const TargetTask* task = nullptr);
  void run_for(const TargetTask& task, HostProbe::When when);
  void run_last_child_ends(Drain& drain);

  Session& session_;
  const Plan& plan_;
  std::optional<TargetTask> task_;      // the target
  std::optional<ChildWatch> children_;  // only if a probe asks for their ends
};

}  // namespace dj
