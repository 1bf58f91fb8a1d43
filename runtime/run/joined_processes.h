// SPDX-License-Identifier: Apache-2.0
// JoinedProcesses adds further processes to a session: those that the command line names beside the
// first, and those that processes of the session become by executing another program. Processes of
// the same program share one compiled plan.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/patch/module_code.h"
#include "runtime/process/exit_watch.h"
#include "runtime/run/compiled.h"
#include "runtime/run/further_plans.h"
#include "runtime/session/jit_watch.h"
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
  // Compiles what the script probes in a process like `target`, if that is not done yet.
  Status prepare(const Target& target);
  // From here on, processes that join get plans of the script as it is now; in join_again()
  // handlers are off that are off now.
  void forget_plans();
  // Takes in a process that stands, is one of the session already, and is to be probed anew. left:
  // its Target, which has left it; null: another process has forked it. As join(), but the process
  // has begun before.
  Status join_again(const Target* left, TracedProcess process);
  // Lets go of processes that have ended. Call it in every round of the session's loop.
  void poll();
  // Whether none that has joined lives.
  bool are_over() const { return members_.empty(); }
  // Notes objects that a process of the session has opened, for never_seen().
  void note_opened(std::span<const MappedModule> objects);
  // What the script names, and no process of the session has had.
  struct NeverSeen {
    std::vector<std::string> programs, libraries;
  };
  NeverSeen never_seen() const;
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
    std::optional<StackTables> stacks;   // of one of its processes
    KeptPatches patches;
    bool is_told = false;                // djtap has named the sites that it cannot probe
    bool is_old = false;                 // the script has grown since
  };
  struct Member {
    ExitWatch exit;
    std::unique_ptr<StackTables> stacks;
    std::unique_ptr<JitWatch> jit;  // of code that it makes itself; goes before its `stacks`
    uint32_t number;                // ProcessInput::number
    bool is_again;                  // join_again()
    Target* target = nullptr;
    Known* known = nullptr;
  };
  Session& session() const { return plans_.session(); }
  static FileNames files_of(const std::vector<MappedModule>& modules);
  bool has_left(const Member& member, bool looks_at_memory) const;
  Result<Known*> plan_for(const std::vector<MappedModule>& modules, bool has_rseq);
  void forget_oldest();
  Result<uint32_t> free_number();
  // The skipped sites of `joined` that no other process of the session skips.
  std::vector<InstalledSite> new_skips(const Target& joined) const;
  void report_joined(const Member& member, int pid) const;
  void make_stacks(Member& member, Known& known, const std::vector<MappedModule>& modules);
  Status take_in(TracedProcess process, bool is_again);
  Status join(Member& member, std::unique_ptr<TracedProcess> process);
  FindOff off_from_begin(bool is_again);
  void end(const Member& member);
  void drop_ended();

  FurtherPlans& plans_;
  Compiled& compiled_;
  ProcessInput input_;
  bool lists_sites_;
  std::function<void(int)> joins_;
  OffHandlers off_;  // of forget_plans()
  std::list<Known> known_;  // the one that was not needed for longest first
  std::set<std::string> opened_;  // paths
  std::list<Member> members_;
  uint32_t most_numbers_ = 0;  // that processes have had
  uint64_t look_next_ns_ = 0;
  // Ended: what djtap has kept of processes that have ended since it looked last whether they have
  // forks, and how many had.
  struct Ended {
    uint64_t bytes = 0;
    size_t kept = 0;
  } ended_;
};

}  // namespace dj
