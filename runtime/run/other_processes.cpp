// SPDX-License-Identifier: Apache-2.0
// One after the other; meanwhile the others run, start processes and execute programs.
#include "runtime/run/other_processes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/process/named_processes.h"
#include "runtime/process/session_processes.h"
#include "runtime/run/target.h"
#include "runtime/target/process/unfollowed.h"

namespace dj {
namespace {

// The other processes of -p, and what all of -p have started before.
std::vector<int> further_processes(const FoundTarget& found) {
  std::vector<int> further = found.more_pids;
  if (!found.follows_execs || found.is_child() || found.is_everywhere()) return further;
  std::vector<int> begun = descendants(found.pid());
  for (const int pid : found.more_pids) {
    const std::vector<int> more = descendants(pid);
    begun.insert(begun.end(), more.begin(), more.end());
  }
  for (const int pid : begun) {
    if (pid != found.pid() && std::ranges::find(further, pid) == further.end())
      further.push_back(pid);
  }
  return further;
}

class Joining {
 public:
  explicit Joining(const OthersInput& input) : input_(input), found_(input.found) {}

  // is_meant: the command line or the script means this process; else one has started it.
  void join(int pid, bool is_meant);
  void join_missed();

 private:
  Status try_join(int pid);
  OthersInput input_;
  FoundTarget& found_;
};

Status Joining::try_join(int pid) {
  DJ_TRY(TracedProcess process, open_process(pid, found_.trusted, input_.writable_text));
  return input_.joined.join(std::move(process));
}

// One that executes another program meanwhile is followed, or comes in join_missed(). One of the
// machine's that has just ended need not be told of.
void Joining::join(int pid, bool is_meant) {
  if (input_.execs != nullptr) {
    input_.execs->poll();
    if (input_.execs->is_leaving(pid) || has_memory(pid, input_.data)) return;
  }
  const std::optional<FileNumber> program = program_of(pid);
  if (found_.gate) found_.gate->let_through(pid, true);
  const Status done = try_join(pid);
  if (found_.gate) found_.gate->let_through(pid, false);
  if (done.ok() || !is_meant || program_of(pid) != program) return;
  const bool has_ended =
      done.error().kind == Fail::TargetGone || done.error().kind == Fail::NotFound;
  if (!found_.is_everywhere() || !has_ended) found_.unprobed.add(pid, done.error());
}

// Those that came while others joined, from processes that were not probed yet.
void Joining::join_missed() {
  constexpr int kRounds = 10;
  std::set<std::pair<int, std::optional<FileNumber>>> tried;
  for (int i = 0; i < kRounds; ++i) {
    NamedProcesses now = found_.everywhere->find();
    for (const auto& [pid, why] : now.left_out) found_.unprobed.add(pid, why);
    std::erase_if(now.pids, [&](int pid) {
      return pid == found_.pid() || found_.unprobed.has(pid) || has_memory(pid, input_.data) ||
             !tried.emplace(pid, program_of(pid)).second;
    });
    if (now.pids.empty()) return;
    for (const int pid : now.pids) join(pid, true);
  }
}

}  // namespace

void join_others(const OthersInput& input) {
  Joining joining(input);
  FoundTarget& found = input.found;
  if (found.gate) found.gate->let_through(found.pid(), false);  // as of find_everywhere()
  const std::vector<int> further = further_processes(found);
  for (size_t i = 0; i < further.size(); ++i) joining.join(further[i], i < found.more_pids.size());
  if (found.is_everywhere()) joining.join_missed();
  found.unprobed.report();
}

}  // namespace dj
