// SPDX-License-Identifier: Apache-2.0
// Each process is cleaned by a child that has no more rights than it needs for that one.
#include "runtime/run/clean_processes.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include "compiler/base/printable.h"
#include "runtime/clean/clean.h"
#include "runtime/process/os_error.h"
#include "runtime/process/session_processes.h"
#include "runtime/run/show.h"

namespace dj {

namespace {

// Returns its exit code.
Result<int> in_child(const std::function<int()>& run) {
  std::fflush(nullptr);
  const int child = fork();
  if (child < 0) return os_error("cannot fork");
  if (child == 0) {
    const int exit_code = run();
    std::fflush(nullptr);
    _exit(exit_code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return os_error("cannot wait for a child");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : int{kExitAttach};
}

int clean_unless_held(const TargetChoices& target, const NeededFiles& files) {
  if (const auto code = give_up_rights(target, files)) return *code;
  const int pid = target.pids.front();
  const Status unheld = check_unheld(pid);
  if (unheld.ok()) return print_result(clean_command(pid, false), fail_attach);
  show(printable(unheld.error().message) + "\n");
  return kExitOk;
}

int clean_one(const TargetChoices& target, const NeededFiles& files) {
  if (const auto code = give_up_rights(target, files)) return *code;
  return print_result(clean_command(target.pids.front(), true), fail_attach);
}

}  // namespace

int clean_these(const TargetChoices& target, const NeededFiles& files) {
  if (target.pids.size() == 1) return clean_one(target, files);
  int exit_code = kExitOk;
  for (const int pid : target.pids) {
    TargetChoices one = target;
    one.pids = {pid};
    const Result<int> cleaned = in_child([&] { return clean_one(one, files); });
    if (!cleaned.ok()) return fail_attach(cleaned.error());
    exit_code = std::max(exit_code, cleaned.value());
  }
  return exit_code;
}

int clean_all(const TargetChoices& target, const NeededFiles& files) {
  constexpr int kMostLooks = 100;  // where others fork without end
  int exit_code = kExitOk;
  std::set<int> cleaned;
  // The next look finds what one of them has forked before it was cleaned.
  for (int look = 0; look < kMostLooks; ++look) {
    const size_t before = cleaned.size();
    for (const int pid : find_probed_processes()) {
      if (!has_session_memory(pid) || !cleaned.insert(pid).second) continue;
      TargetChoices one = target;
      one.pids = {pid};
      const Result<int> done = in_child([&] { return clean_unless_held(one, files); });
      if (!done.ok()) return fail_attach(done.error());
      exit_code = std::max(exit_code, done.value());
    }
    if (cleaned.size() == before) break;
  }
  if (cleaned.empty()) show("no process has anything of djtap's\n");
  return exit_code;
}

}  // namespace dj
