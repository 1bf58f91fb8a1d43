// SPDX-License-Identifier: Apache-2.0
// FoundTarget holds what a session probes, before it does: a process, the running kernel, or
// nothing.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/output/report_times.h"
#include "runtime/process/exec_gate.h"
#include "runtime/process/launch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/run/machine_processes.h"
#include "runtime/run/unprobed.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// At most one of `process` and `kernel` is there.
struct FoundTarget {
  std::optional<TracedProcess> process;
  std::optional<std::vector<MappedModule>> kernel;  // by running_kernel()
  // The further processes of -p, in the order of the command line, or all others of `everywhere`,
  // which the session is to join. djtap has not looked at them; some may have ended.
  std::vector<int> more_pids;
  UnprobedProcesses unprobed;  // of those that are meant
  // Set where the command line names no process (running_programs.h).
  std::optional<MachineProcesses> everywhere;
  std::unique_ptr<ExecGate> gate;  // for those that come later; null: djtap cannot know of them
  bool trusted = false;            // TargetChoices::trusted
  ProcessNames names;              // of the processes that are, or were, in the session
  // Whether probes follow what processes of the session execute.
  bool follows_execs = false;
  // The command of -c where the kernel is probed: it waits, and nothing of it is probed.
  std::optional<ForkedChild> command;

  bool is_everywhere() const { return everywhere.has_value(); }
  bool is_there() const { return process || kernel; }
  // What can be probed, ascending by address.
  const std::vector<MappedModule>& modules() const {
    static const std::vector<MappedModule> kNone;
    return process ? process->modules : kernel ? *kernel : kNone;
  }
  // The first process of -p, or that of -c; 0: there is none.
  int pid() const { return process ? process->pid : command ? command->pid() : 0; }
  bool is_child() const { return process ? process->is_child : command.has_value(); }
};

}  // namespace dj
