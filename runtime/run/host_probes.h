// SPDX-License-Identifier: Apache-2.0
// HostProbes: the probes whose handlers djtap runs itself, in the order of a session: begin,
// process.begin and oneshot, input, process.end of children, then error or end. Timers are the
// loop's.
#pragma once
#include <functional>
#include <optional>

#include "compiler/stages/plan.h"
#include "runtime/output/drain.h"
#include "runtime/output/key_input.h"
#include "runtime/process/child_watch.h"
#include "runtime/process/target_task.h"
#include "runtime/run/arming.h"
#include "runtime/session/session.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

class HostProbes {
 public:
  // Both outlive it. process: none, there is no target.
  HostProbes(Session& session, const Plan& plan, const std::optional<TracedProcess>& process);
  HostProbes(const HostProbes&) = delete;
  HostProbes& operator=(const HostProbes&) = delete;

  // What the drain hears of forked children goes here (DrainInput::child).
  std::function<void(pid_t, bool)> told();
  // Before the target runs on: begin, process.begin, oneshot. After one of the latter the session
  // is to end.
  void run_first();
  // After errors in those.
  void run_error();
  bool wants_input() const { return has(HostProbe::When::Input); }
  // For each byte that has come.
  void run_input(KeyInput& input, ArmingWatch& arming);
  // process.end of forked children that could not say it themselves, as far as `drain` has written.
  void run_child_ends(const Drain& drain);
  // When no handler runs in the target any more. target_gone: it has ended. by_errors: there were
  // too many, so error probes run instead of end probes.
  void run_last(bool target_gone, bool by_errors, Drain& drain);

 private:
  bool has(HostProbe::When when) const;
  void run(HostProbe::When when);
  void run_for(const TargetTask& task, HostProbe::When when);
  void run_last_child_ends(Drain& drain);

  Session& session_;
  const Plan& plan_;
  std::optional<TargetTask> task_;      // the target
  std::optional<ChildWatch> children_;  // only where somebody asks for their ends
};

}  // namespace dj
