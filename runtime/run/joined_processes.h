// SPDX-License-Identifier: Apache-2.0
// JoinedProcesses adds further processes to a session: those that the command line names beside the
// first, and those that processes of the session become by executing another program. Processes of
// the same program share one compiled plan.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/patch/module_code.h"
#include "runtime/process/exit_watch.h"
#include "runtime/run/compiled.h"
#include "runtime/run/further_plans.h"
#include "runtime/session/session.h"
#include "runtime/session/stack_tables.h"
#include "runtime/target/process/process_target.h"

namespace dj {

class JoinedProcesses {
 public:
  // `plans` must outlive this object. first: objects of the session's first process, those
  // of its plan. input: as of that process. lists_sites: --probes. joins: is called with the
  // number of each process just before it is probed.
  JoinedProcesses(FurtherPlans& plans, const std::vector<MappedModule>& first, ProcessInput input,
                  bool lists_sites, std::function<void(int)> joins);

  // Probes this process as well. It is no error that the script probes nothing there. When it
  // fails, the process is as it was.
  Status join(TracedProcess process);
  // Lets go of processes that have ended. Call it in every round of the session's loop.
  void poll();
  // Whether none that has joined lives.
  bool are_over() const { return members_.empty(); }
  // The files that the script names, and that no process of the session has had.
  std::vector<std::string> never_seen() const;
  // The tables of a process that has joined; null: it has none, or has not joined.
  StackTables* stacks_of(const Target& target);

 private:
  // FileNames tell programs apart: those of all objects, in the order of their addresses.
  using FileNames = std::vector<std::pair<std::string, std::optional<FileVersion>>>;
  // Known: a program for which there is a plan.
  struct Known {
    FileNames files;
    bool has_rseq;
    std::optional<FurtherPlan> further;  // empty: the session's first plan
    bool is_told = false;                // djtap has named the sites that it cannot probe
  };
  struct Member {
    ExitWatch exit;
    std::optional<StackTables> stacks;
    uint32_t number;  // ProcessInput::number
    Target* target = nullptr;
    Known* known = nullptr;
  };
  static FileNames files_of(const std::vector<MappedModule>& modules);
  bool has_left(const Member& member, bool looks_at_memory) const;
  Result<Known*> plan_for(const TracedProcess& process, const TargetFacts& facts);
  Result<uint32_t> free_number();
  void report_joined(const Member& member, int pid) const;
  Status join(Member& member, std::unique_ptr<TracedProcess> process);

  FurtherPlans& plans_;
  Compiled& compiled_;
  ModuleCodes& codes_;
  Session& session_;
  ProcessInput input_;
  bool lists_sites_;
  std::function<void(int)> joins_;
  std::list<Known> known_;
  std::list<Member> members_;
  uint32_t most_numbers_ = 0;  // that processes have had
  uint64_t look_next_ns_ = 0;
};

}  // namespace dj
