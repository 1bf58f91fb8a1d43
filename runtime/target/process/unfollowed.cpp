// SPDX-License-Identifier: Apache-2.0
// The kernel lists the children of each thread (proc_tid_children(5)).
#include "runtime/target/process/unfollowed.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/messages.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

constexpr size_t kMostNamed = 8;

std::string ellipsis(size_t count) { return count > kMostNamed ? " ..." : ""; }

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t tid : live_threads(pid)) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, tid));
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::set<pid_t> own_ancestors() {
  std::set<pid_t> all;
  for (pid_t pid = getpid(); pid > 0 && all.insert(pid).second;) {
    const Result<ProcessStatus> status = read_status(pid);
    pid = status.ok() ? status.value().parent : 0;
  }
  return all;
}

bool lives(pid_t pid) {
  const Result<ProcessStatus> status = read_status(pid);
  return status.ok() && status.value().state != 'Z';
}

}  // namespace

std::vector<pid_t> descendants(pid_t target) {
  const std::set<pid_t> own = own_ancestors();
  std::set<pid_t> found;
  std::vector<pid_t> look_at = {target};
  while (!look_at.empty()) {
    const pid_t pid = look_at.back();
    look_at.pop_back();
    for (const pid_t child : children_of(pid)) {
      if (child == getpid() || !found.insert(child).second) continue;
      look_at.push_back(child);
    }
  }
  std::erase_if(found, [&](pid_t pid) { return own.contains(pid) || !lives(pid); });
  return {found.begin(), found.end()};
}

LivingProcesses name_living(const std::vector<pid_t>& pids) {
  LivingProcesses named;
  for (const pid_t pid : pids) {
    const Result<ProcessStatus> status = read_status(pid);
    if (!status.ok() || status.value().state == 'Z') continue;
    if (++named.count > kMostNamed) continue;
    named.names +=
        fmt::format("{}{} ({})", named.count == 1 ? "" : ", ", pid, printable(status.value().name));
  }
  named.names += ellipsis(named.count);
  return named;
}

void warn_of_earlier(pid_t target) {
  std::vector<pid_t> earlier = descendants(target);
  std::erase_if(earlier, has_session_memory);
  const LivingProcesses named = name_living(earlier);
  if (named.count == 0) return;
  report_warning(
      "DJ4907",
      fmt::format("{} that the target had started before are not probed: {}; attach to one "
                  "with -p",
                  counted(named.count, "process"), named.names));
}

}  // namespace dj
