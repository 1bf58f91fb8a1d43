// SPDX-License-Identifier: Apache-2.0
// A handler is a function call; what is told apart is when, and for whom.
#include "runtime/run/host_probes.h"

#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>

#include "runtime/process/pid_space.h"
#include "runtime/shared/input.h"
#include "runtime/shared/thread_table.h"

namespace dj {

HostProbes::HostProbes(Session& session, const Plan& plan, int pid)
    : session_(session), plan_(plan) {
  if (pid != 0) task_.emplace(pid);
  if (task_ && has(HostProbe::When::ProcessEnd)) children_.emplace(*task_);
}

bool HostProbes::has(HostProbe::When when) const {
  const auto is_it = [when](const HostProbe& probe) { return probe.when == when; };
  return std::ranges::any_of(plan_.host_probes, is_it) ||
         std::ranges::any_of(plan_.added_hosts, is_it);
}

namespace {

bool means(const HostProbe& probe, const TargetTask* task) {
  return probe.files.empty() || task == nullptr ||
         std::ranges::any_of(probe.files, [task](const std::string& file) {
           return task->program() == file || task->had_mapped(file);
         });
}

}  // namespace

// Where one of them calls exit(), only those of the end still fire.
void HostProbes::run_these(Probes probes, HostProbe::When when, const TargetTask* task) {
  using When = HostProbe::When;
  const bool at_end = when == When::End || when == When::Error || when == When::ProcessEnd;
  for (const HostProbe& probe : probes) {
    if (!at_end && session_.words().exit_requested()) return;
    if (probe.when == when && means(probe, task)) session_.run_host(probe.handler);
  }
}

void HostProbes::run(HostProbe::When when, const TargetTask* task) {
  run_these(plan_.host_probes, when, task);
  run_these(plan_.added_hosts, when, task);
}

// In these, the current process is `task`.
void HostProbes::run_for(const TargetTask& task, HostProbe::When when) {
  abi::ThreadTable& own = *abi::thread_table_of(&session_.header());
  own.task = task.address();
  run(when, &task);
  own.task = 0;
}

std::function<void(const abi::ChildPayload&, bool)> HostProbes::told() {
  return [this](const abi::ChildPayload& child, bool begins) {
    if (children_) begins ? children_->begins(child) : children_->ends(child);
  };
}

void HostProbes::run_first() {
  run(HostProbe::When::Begin);
  if (task_) run_for(*task_, HostProbe::When::ProcessBegin);
  if (!has(HostProbe::When::Oneshot)) return;
  run(HostProbe::When::Oneshot);
  session_.words().request_exit();
}

void HostProbes::run_added(size_t first, const std::vector<int>& pids) {
  using When = HostProbe::When;
  const Probes added = Probes(plan_.added_hosts).subspan(first);
  run_these(added, When::Begin);
  if (!children_ && task_ && has(When::ProcessEnd)) children_.emplace(*task_);
  abi::ThreadTable& own = *abi::thread_table_of(&session_.header());
  for (const int pid : pids) {
    const TargetTask task(pid);
    if (children_ && task_ && task_->pid() != pid) children_->joins(task);
    own.task = task.address();
    run_these(added, When::ProcessBegin, &task);
    own.task = 0;
  }
  const auto is_oneshot = [](const HostProbe& probe) { return probe.when == When::Oneshot; };
  if (std::ranges::none_of(added, is_oneshot)) return;
  run_these(added, When::Oneshot);
  session_.words().request_exit();
}

void HostProbes::run_joining(int pid) {
  const bool begins = has(HostProbe::When::ProcessBegin);
  if (!begins && !children_) return;
  const TargetTask task(pid);
  if (task_ && task_->pid() == pid) {
    run_for(*task_, HostProbe::When::ProcessEnd);
    task_ = task;
  } else if (children_) {
    const std::optional<TargetTask> before = children_->joins(task);
    if (before) run_for(*before, HostProbe::When::ProcessEnd);
  }
  if (begins) run_for(task, HostProbe::When::ProcessBegin);
}

void HostProbes::run_error() { run(HostProbe::When::Error); }

void HostProbes::run_input(KeyInput& input, ArmingWatch& arming) {
  const abi::Header& header = session_.header();
  const uint64_t first =
      header.sites.address(abi::arena_of(&header)) + plan_.sites.size() * sizeof(abi::SiteInfo);
  for (char byte : input.read()) {
    if (session_.words().exit_requested()) return;
    for (size_t i = 0; i < plan_.host_probes.size(); ++i) {
      if (plan_.host_probes[i].when != HostProbe::When::Input) continue;
      session_.arena().store<uint64_t>(
          first + i * sizeof(abi::SiteInfo) + offsetof(abi::SiteInfo, bias),
          abi::kInputByte | static_cast<unsigned char>(byte));
      session_.run_host(plan_.host_probes[i].handler);
    }
    arming.look();
  }
}

void HostProbes::run_child_ends(const Drain& drain) {
  if (!children_) return;
  for (const TargetTask& child : children_->take_ended(drain.written_until()))
    run_for(child, HostProbe::When::ProcessEnd);
}

// Of those that are gone at the session's end, once all that they have said is read.
void HostProbes::run_last_child_ends(Drain& drain) {
  constexpr int kRounds = 100;  // a killed thread may have left a record unfinished
  const uint64_t now = __rdtsc();
  for (int round = 0; round < kRounds; ++round) {
    if (round > 4) usleep(20'000);
    drain.run(false);
    run_child_ends(drain);
    if (drain.written_until() >= now && !children_->is_due()) return;
  }
}

void HostProbes::run_first_end(Drain& drain) {
  if (!task_) return;
  if (has(HostProbe::When::ProcessEnd)) drain.run(false);  // what it has printed comes before
  task_->ended();
  run_for(*task_, HostProbe::When::ProcessEnd);
  task_.reset();
}

void HostProbes::run_last(bool target_gone, bool by_errors, Drain& drain) {
  if (children_) run_last_child_ends(drain);
  if (target_gone) run_first_end(drain);
  run(by_errors ? HostProbe::When::Error : HostProbe::When::End);
}

}  // namespace dj
