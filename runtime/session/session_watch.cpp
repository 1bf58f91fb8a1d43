// SPDX-License-Identifier: Apache-2.0
// What a session does to the text while the target runs: places whose probes are switched off and
// on, guards where too many arrive, traps that the program can no longer bear.
#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/clean/clean.h"
#include "runtime/output/tell.h"
#include "runtime/process/kin.h"
#include "runtime/process/os_error.h"
#include "runtime/process/own_tracee.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/session/report.h"
#include "runtime/session/session.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/thread_table.h"

namespace dj {

const char* what_fails(uint64_t denied) {
  const bool reads = (denied & abi::asked_bit(SYS_process_vm_readv)) != 0;
  return reads ? "; reads of memory are errors" : "";
}

// By the memory that is open already: a failure here would leave probes where they are.
bool Session::is_in_target(const Stopped& stopped) {
  uint64_t ticket = 0;
  const std::span bytes(reinterpret_cast<uint8_t*>(&ticket), sizeof ticket);
  return stopped.read(header_.arena_base + offsetof(abi::Header, ticket), bytes).ok() &&
         ticket == header_.ticket;
}

Status Session::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  if (!installation_) return ok_status();
  if (on) forget_calls(handlers);
  for (Later& later : later_) {
    later.installation.switch_handlers(handlers, on, by);
  }
  installation_->switch_handlers(handlers, on, by);
  return do_text_work(true);
}

Status Session::do_text_work(bool if_awaited) {
  std::vector<std::pair<Installation*, Installation::TextWork>> work;
  bool any = false, awaited = false, live = true;
  auto look = [&](Installation& installation) {
    auto& [at, todo] = work.emplace_back(&installation, installation.text_work());
    any = any || !todo.empty();
    awaited = awaited || !todo.wake.empty();
    live = live && todo.live;
  };
  for (Later& later : later_) look(later.installation);
  look(*installation_);
  if (!any || (if_awaited && !awaited)) return ok_status();
  DJ_TRY(Stopped stopped, live ? Stopped::stop_one(pid_) : Stopped::stop(pid_));
  if (!is_in_target(stopped)) return ok_status();
  for (auto& [installation, todo] : work) {
    todo.live = live;
    if (!todo.empty()) DJ_TRY_DO(installation->do_text_work(stopped, todo));
  }
  return ok_status();
}

void Session::watch() {
  constexpr uint64_t kIntervalNs = 50'000'000, kAfterFailureNs = 2'000'000'000;
  if (!installation_ || !Stopped::let_go_of_late() || now_ns() < watch_next_ns_) return;
  let_go_of_own_tracee(pid_);
  const bool runs_long = watch_next_ns_ != 0;
  watch_next_ns_ = now_ns() + kIntervalNs;
  warn_of_denied();
  if (words().tracee() != 0) clear_tracee();
  if (installation_->small_stack() != 0) return withdraw_traps();
  tell_misread_tables();
  cool(*installation_);
  for (Later& later : later_) {
    cool(later.installation);
  }
  lead_calls();
  // Threads that cannot be stopped now (a vfork) may be later; nobody waits for it.
  if (!do_text_work(false).ok()) watch_next_ns_ = now_ns() + kAfterFailureNs;
  if (runs_long) show_code();
}

void Session::warn_of_denied() {
  const uint64_t denied = words().denied() & ~told_denied_;
  told_denied_ |= denied;
  if (denied != 0) {
    tell_warning("DJ4906", fmt::format("the program has installed a seccomp filter: handlers do "
                                       "without the system calls that it denies{}",
                                       what_fails(denied)));
  }
}

Result<uint64_t> Session::obey_filters(const Stopped& stopped) {
  DJ_TRY(uint64_t denied, denied_by_filters(stopped));
  if (denied == 0) return denied;
  const auto own_pid = static_cast<uint64_t>(own_numbers(pid_).pid);  // handlers may not ask
  const auto put = [&](size_t at, const uint64_t& word) {
    return stopped.write(memory_->threads() + at,
                         {reinterpret_cast<const uint8_t*>(&word), sizeof word});
  };
  DJ_TRY_DO(put(offsetof(abi::ThreadTable, pid), own_pid));
  DJ_TRY_DO(put(offsetof(abi::ThreadTable, denied), denied));
  words().add_denied(denied);
  told_denied_ = denied;
  tell_warning("DJ4903", fmt::format("process {} runs under a seccomp filter: handlers do without "
                                     "the system calls that it denies{}",
                                     pid_, what_fails(denied)));
  return denied;
}

void Session::tell_misread_tables() {
  const auto tell = [](Installation& installation) {
    for (const std::string& place : installation.misread_tables()) {
      tell_warning("DJ5910", fmt::format("a jump table was read wrong: a thread arrived inside the "
                                         "jump at {}, and went on in the detour",
                                         place));
    }
  };
  if (installation_) tell(*installation_);
  for (Later& later : later_) tell(later.installation);
}

void Session::cool(Installation& installation) {
  constexpr uint64_t kHotTraps = 1000;  // a trap takes about a microsecond
  std::vector<size_t> hot = installation.hot_guards(kHotTraps);
  const bool leads = installation.look_for_led_jumps(read_text_);
  if (hot.empty() && !leads) return;
  Result<Stopped> stopped = Stopped::stop(pid_);  // a target that has just ended is no error here
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  Status cooled = leads ? installation.lead_jumps(stopped.value(), hot) : ok_status();
  if (cooled.ok() && !hot.empty()) cooled = installation.cool_guards(stopped.value(), hot);
  if (!leads) installation.look_for_led_jumps(read_text_);
  if (!cooled.ok()) tell_undone(cooled.error().message);
}

// A program that waits most of its time, and a server whose children do, would stand once more for
// nothing.
void Session::lead_calls() {
  constexpr uint64_t kWorthNs = 50'000'000;
  if (processor_ns(pid_) < used_at_arm_ns_ + kWorthNs) return;
  std::vector<Installation*> all = {&*installation_};
  for (Later& later : later_) all.push_back(&later.installation);
  // One after the other: each reads whole objects, beside a target that computes.
  bool looking = std::ranges::any_of(
      all, [](const Installation* one) { return one->is_looking_for_straight_calls(); });
  for (Installation* installation : all) {
    if (!looking) installation->look_for_straight_calls(pid_, read_text_);
    looking = looking || installation->is_looking_for_straight_calls();
    if (installation->has_straight_calls()) write_straight_calls(*installation);
  }
}

void Session::write_straight_calls(Installation& installation) {
  if (!installation.choose_straight_calls(installation.all_places())) return;
  Result<Stopped> stopped = Stopped::stop(pid_);
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  const Status written = installation.write_straight_calls(stopped.value());
  if (!written.ok()) tell_undone(written.error().message);
}

// A process that waits for it before it is traced by another, where each SIGTRAP would be a stop.
// Guards where nobody arrives stay.
void Session::clear_tracee() {
  const pid_t tracee = number_seen(static_cast<pid_t>(words().tracee()), pid_);
  bool traps = installation_->is_met_by_traps();
  for (const Later& later : later_) traps = traps || later.installation.is_met_by_traps();
  if (traps && tracee == pid_) {
    installation_->want_no_traps(abi::kTraced);
    withdraw_traps();
  } else if (traps && is_kin(tracee, pid_)) {
    clean_child(tracee);
  }
  words().answer_tracee();
}

void Session::clean_child(pid_t child) {
  std::vector<std::string> failures;
  for (auto later = later_.rbegin(); later != later_.rend(); ++later)
    clean_process(later->memory.inode(), child, failures);
  clean_process(memory_->inode(), child, failures);
  for (const std::string& failure : failures)
    tell_error("DJ5014", fmt::format("probes not removed from a forked process: {}", failure));
}

void Session::withdraw_traps() {
  Result<Stopped> stopped = Stopped::stop(pid_);
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  Status withdrawn = ok_status();
  for (Later& later : later_) {
    if (withdrawn.ok()) withdrawn = later.installation.withdraw_traps(stopped.value());
  }
  if (withdrawn.ok()) withdrawn = installation_->withdraw_traps(stopped.value());
  if (!withdrawn.ok()) tell_undone(withdrawn.error().message);
  stopped.value().release();
  warn_skipped_sites(sites());
}

}  // namespace dj
