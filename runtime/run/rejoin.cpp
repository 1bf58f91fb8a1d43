// SPDX-License-Identifier: Apache-2.0
// First the targets, then what they have forked, which has its probes from them.
#include "runtime/run/rejoin.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/process/session_processes.h"
#include "runtime/target/process/process_target.h"

namespace dj {
namespace {

class Rejoining {
 public:
  Rejoining(Session& session, JoinedProcesses& joined, const Serve& serve)
      : session_(session), joined_(joined), serve_(serve) {}

  std::vector<std::string> run();

 private:
  Status join_target(ProcessTarget& target);
  Status join_fork(int pid);
  void note(int pid, const Status& done);
  bool join_forks();

  Session& session_;
  JoinedProcesses& joined_;
  const Serve& serve_;
  std::set<uint64_t> memories_;  // of all targets, as they were
  std::set<int> seen_;
  std::vector<std::string> failures_;
};

Status Rejoining::join_target(ProcessTarget& target) {
  DJ_TRY_DO(joined_.prepare(target));
  DJ_TRY(TracedProcess process, target.leave(serve_));
  return joined_.join_again(&target, std::move(process));
}

Status Rejoining::join_fork(int pid) {
  DJ_TRY(TracedProcess process, take_fork(pid, memories_, serve_));
  return joined_.join_again(nullptr, std::move(process));
}

void Rejoining::note(int pid, const Status& done) {
  if (done.ok() || done.error().kind == Fail::TargetGone || done.error().kind == Fail::NotFound)
    return;
  failures_.push_back(fmt::format("process {}: {}", pid, done.error().message));
}

// Whether there was one more. A vfork child has the text of its parent, which waits for it.
bool Rejoining::join_forks() {
  bool more = false;
  for (const uint64_t memory : memories_) {
    for (const int pid : find_session_processes(memory)) {
      if (shares_parents_memory(pid) || !seen_.insert(pid).second) continue;
      more = true;
      note(pid, join_fork(pid));
    }
  }
  return more;
}

std::vector<std::string> Rejoining::run() {
  std::vector<ProcessTarget*> living;
  for (const Targets* targets : {&session_.targets(), &session_.ended()}) {
    for (const auto& each : *targets) {
      auto& target = static_cast<ProcessTarget&>(*each);
      memories_.merge(target.memories());
      if (targets == &session_.targets() && !target.has_ended()) {
        living.push_back(&target);
        seen_.insert(target.pid());
      } else {
        target.finish_journals();
      }
    }
  }
  session_.let_wait(false);
  serve_();
  for (ProcessTarget* target : living) note(target->pid(), join_target(*target));
  constexpr int kRounds = 10;
  for (int i = 0; i < kRounds && join_forks(); ++i) serve_();
  session_.let_wait(true);
  return std::move(failures_);
}

}  // namespace

std::vector<std::string> rejoin_all(Session& session, JoinedProcesses& joined, const Serve& serve) {
  return Rejoining(session, joined, serve).run();
}

}  // namespace dj
