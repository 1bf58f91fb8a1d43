// SPDX-License-Identifier: Apache-2.0
// A process before the session, launched or looked at.
#include "runtime/target/process/traced_process.h"

#include <sys/syscall.h>

#include <algorithm>

#include "runtime/clean/clean.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/shared/denied.h"

namespace dj {

namespace {

constexpr char kOrAddProbes[] = ", or give it more probes: add SCRIPT on its --control socket";

}  // namespace

UnstartedChild::~UnstartedChild() {
  if (pid_ > 0) kill_child(pid_);
}

Result<TracedProcess> TracedProcess::launch(ForkedChild child) {
  DJ_TRY(Launched launched, dj::launch(std::move(child)));
  TracedProcess process(std::move(launched));
  process.is_child = true;
  process.unstarted = UnstartedChild(process.pid);
  DJ_TRY(process.modules, mapped_modules(process.pid));
  return process;
}

TracedProcess::TracedProcess(Launched launched)
    : pid(launched.pid),
      stands(true),
      stopped(std::move(launched.stopped)),
      at_loader_call(launched.at_loader_call),
      scout(std::move(launched.scout)) {}

Result<TracedProcess> TracedProcess::executed(Launched launched) {
  TracedProcess process(std::move(launched));
  DJ_TRY(const std::vector<Mapping> maps, process.stopped->maps());
  process.modules = modules_among(process.pid, maps);
  return process;
}

Result<TracedProcess> TracedProcess::opening(ExecTracee opener) {
  TracedProcess process;
  process.pid = opener.pid();
  process.opener.emplace(std::move(opener));
  DJ_TRY_DO(check_unheld(process.pid, kOrAddProbes));
  DJ_TRY(process.modules, mapped_modules(process.pid));
  return process;
}

Result<TracedProcess> TracedProcess::standing(Stopped stopped) {
  TracedProcess process;
  process.pid = stopped.pid();
  process.stands = true;
  process.stopped.emplace(std::move(stopped));
  DJ_TRY(process.modules, mapped_modules(process.pid));
  return process;
}

Result<TracedProcess> TracedProcess::open(pid_t pid) {
  DJ_TRY_DO(check_traceable(pid));
  DJ_TRY_DO(check_unheld(pid, kOrAddProbes));
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

ReadWord word_reader(pid_t pid) {
  return [pid](uint64_t address, uint64_t& word) {
    return RunningMemory(pid).read(address, &word, sizeof word);
  };
}

namespace {

// Which system calls seccomp filters deny (runtime/shared/denied.h).
Result<uint64_t> denied_now(const TracedProcess& process) {
  if (process.stopped) return denied_by_filters(*process.stopped);
  if (!has_confined_threads(process.pid)) return uint64_t{0};
  DJ_TRY(Stopped stopped, Stopped::stop(process.pid));
  return denied_by_filters(stopped);
}

}  // namespace

Result<TargetFacts> TracedProcess::facts(bool has_rseq) const {
  DJ_TRY(const uint64_t denied, denied_now(*this));
  TargetFacts facts;
  facts.has_rseq = has_rseq;
  facts.is_running = !stands;
  if ((denied & abi::asked_bit(SYS_rt_sigreturn)) != 0)
    facts.no_int3 = "the program's seccomp filter denies rt_sigreturn";
  // The imports of a program that has only been started are bound in its scout.
  facts.read_word = word_reader(scout ? scout->pid() : pid);
  return facts;
}

}  // namespace dj
