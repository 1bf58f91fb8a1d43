// SPDX-License-Identifier: Apache-2.0
// A process before the session, launched or looked at.
#include "runtime/session/traced_process.h"

#include <algorithm>

#include "runtime/clean/clean.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"

namespace dj {

UnstartedChild::~UnstartedChild() {
  if (pid_ > 0) kill_child(pid_);
}

Result<TracedProcess> TracedProcess::launch(ForkedChild child) {
  DJ_TRY(Launched launched, dj::launch(std::move(child)));
  TracedProcess process;
  process.pid = launched.pid;
  process.is_child = true;
  process.unstarted = UnstartedChild(launched.pid);
  process.stopped.emplace(std::move(launched.stopped));
  process.scout = std::move(launched.scout);
  DJ_TRY(process.modules, mapped_modules(process.pid));
  return process;
}

Result<TracedProcess> TracedProcess::open(pid_t pid) {
  DJ_TRY_DO(check_traceable(pid));
  DJ_TRY_DO(check_unheld(pid));
  TracedProcess process;
  process.pid = pid;
  DJ_TRY(process.modules, mapped_modules(pid));
  return process;
}

Status TracedProcess::find_rseq() {
  if (scout) {
    rseq_registered = scout->rseq().has_value();
    if (rseq_registered) rseq_offset = scout->rseq()->offset;
    return ok_status();
  }
  std::optional<Stopped> here;  // a running process stands for this moment, if it must
  if (!stopped) {
    if (std::optional<int64_t> offset = glibc_rseq_offset(pid, modules)) {
      rseq_registered = true;
      rseq_offset = *offset;
      return ok_status();
    }
    DJ_TRY(Stopped running, Stopped::stop(pid));
    here.emplace(std::move(running));
  }
  const Stopped& threads = stopped ? *stopped : *here;
  DJ_TRY(std::optional<RseqArea> area, threads.rseq(threads.threads().front()));
  rseq_registered = area.has_value();
  if (area) rseq_offset = area->offset;
  return ok_status();
}

std::vector<std::string> TracedProcess::module_paths() const {
  std::vector<std::string> paths;
  for (const MappedModule& module : modules) {
    // A file that is mapped twice is one to resolve(): each of its sites is then at two places.
    const bool known = std::find(paths.begin(), paths.end(), module.path) != paths.end();
    if (module.is_vdso || known) continue;
    paths.insert(module.is_executable_file ? paths.begin() : paths.end(), module.path);
  }
  // Not by address, which is another one each time: plans are kept.
  if (!paths.empty()) std::sort(paths.begin() + 1, paths.end());
  return paths;
}

}  // namespace dj
