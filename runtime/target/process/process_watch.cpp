// SPDX-License-Identifier: Apache-2.0
// What djtap does to the text of a process while it runs: places whose probes are switched off and
// on, guards where too many arrive, traps that the program can no longer bear.
#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/clean/clean.h"
#include "runtime/output/messages.h"
#include "runtime/process/os_error.h"
#include "runtime/process/own_tracee.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/session_processes.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/thread_table.h"
#include "runtime/target/process/process_target.h"
#include "runtime/target/report_sites.h"

namespace dj {

const char* what_fails(uint64_t denied) {
  const bool reads = (denied & abi::asked_bit(SYS_process_vm_readv)) != 0;
  return reads ? "; reads of memory are errors" : "";
}

// By the memory that is open already: a failure here would leave probes where they are.
bool ProcessTarget::is_in_target(const Stopped& stopped) const {
  uint64_t ticket = 0;
  const std::span bytes(reinterpret_cast<uint8_t*>(&ticket), sizeof ticket);
  return stopped.read(header_.arena_base + offsetof(abi::Header, ticket), bytes).ok() &&
         ticket == header_.ticket;
}

Status ProcessTarget::check_in_target(const Stopped& stopped) const {
  if (is_in_target(stopped)) return ok_status();
  return Error{"the target has executed another program", Fail::TargetGone};
}

Status ProcessTarget::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  for (ProbeSet& set : sets_) set.installation.switch_handlers(handlers, on, by);
  return do_text_work(true);
}

Status ProcessTarget::do_text_work(bool if_awaited) {
  std::vector<std::pair<Installation*, TextWork>> work;
  bool any = false, awaited = false, live = true;
  for (ProbeSet& set : sets_) {
    auto& [at, todo] = work.emplace_back(&set.installation, set.installation.text_work());
    any = any || !todo.empty();
    awaited = awaited || !todo.wake.empty();
    live = live && todo.live;
  }
  if (!any || (if_awaited && !awaited)) return ok_status();
  DJ_TRY(Stopped stopped, live ? Stopped::stop_one(process_.pid) : Stopped::stop(process_.pid));
  if (!is_in_target(stopped)) return ok_status();
  for (auto& [installation, todo] : work) {
    todo.live = live;
    if (!todo.empty()) DJ_TRY_DO(installation->do_text_work(stopped, todo));
  }
  return ok_status();
}

namespace {

constexpr uint64_t kPollNs = 50'000'000;

}  // namespace

// Most of a session's further processes end before there is anything to see to.
void ProcessTarget::poll_later() {
  constexpr uint64_t kShowFurtherNs = 10 * kPollNs;
  watch_.interval_ns = kPollNs;
  watch_.polled_ns = now_ns();
  watch_.show_next_ns = watch_.polled_ns + (input_.number == 0 ? kPollNs : kShowFurtherNs);
}

void ProcessTarget::poll() {
  constexpr uint64_t kAfterFailureNs = 2'000'000'000;
  constexpr uint64_t kMostFurtherNs = 8 * kPollNs;  // there may be many, and most only wait
  if (sets_.empty() || !Stopped::let_go_of_late()) return;
  const bool is_awaited = words().tracee() != 0;
  if (now_ns() < watch_.polled_ns + (is_awaited ? kPollNs : watch_.interval_ns)) return;
  watch_.polled_ns = now_ns();
  watch_.interval_ns =
      input_.number == 0 ? kPollNs : std::min(2 * watch_.interval_ns, kMostFurtherNs);
  if (has_ended()) return;
  let_go_of_own_tracee(process_.pid);
  warn_of_denied();
  if (is_awaited) clear_tracee();
  if (first().small_stack() != 0) return withdraw_traps();
  report_misread_tables();
  for (ProbeSet& set : sets_) cool(set.installation);
  lead_calls();
  // Threads that cannot be stopped now (a vfork) may be later; nobody waits for it.
  if (!do_text_work(false).ok()) watch_.polled_ns += kAfterFailureNs;
  show_code();
}

void ProcessTarget::warn_of_denied() {
  const uint64_t denied = words().denied() & ~watch_.told_denied;
  watch_.told_denied |= denied;
  if (denied != 0) {
    report_warning("DJ4906", fmt::format("the program has installed a seccomp filter: handlers do "
                                         "without the system calls that it denies{}",
                                         what_fails(denied)));
  }
}

Result<uint64_t> ProcessTarget::obey_filters(const Stopped& stopped) {
  DJ_TRY(uint64_t denied, denied_by_filters(stopped));
  if (denied == 0) return denied;
  const auto own_pid = static_cast<uint64_t>(own_number(process_.pid));  // handlers may not ask
  const auto put = [&](size_t at, const uint64_t& word) {
    return stopped.write(memory().threads() + at,
                         {reinterpret_cast<const uint8_t*>(&word), sizeof word});
  };
  DJ_TRY_DO(put(offsetof(abi::ThreadTable, pid), own_pid));
  DJ_TRY_DO(put(offsetof(abi::ThreadTable, denied), denied));
  words().add_denied(denied);
  watch_.told_denied = denied;
  report_warning("DJ4903",
                 fmt::format("process {} runs under a seccomp filter: handlers do without "
                             "the system calls that it denies{}",
                             process_.pid, what_fails(denied)));
  return denied;
}

void ProcessTarget::report_misread_tables() {
  const auto tell = [](Installation& installation) {
    for (const std::string& place : installation.misread_tables()) {
      report_warning("DJ5910",
                     fmt::format("a jump table was read wrong: a thread arrived inside the "
                                 "jump at {}, and went on in the detour",
                                 place));
    }
  };
  for (ProbeSet& set : sets_) tell(set.installation);
}

void ProcessTarget::cool(Installation& installation) {
  constexpr uint64_t kHotTraps = 1000;  // a trap takes about a microsecond
  std::vector<size_t> hot = installation.hot_guards(kHotTraps);
  const bool leads = installation.look_for_led_jumps(codes_.read_text());
  if (hot.empty() && !leads) return;
  Result<Stopped> stopped =
      Stopped::stop(process_.pid);  // a target that has just ended is no error here
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  Status cooled = leads ? installation.lead_jumps(stopped.value(), hot) : ok_status();
  if (cooled.ok() && !hot.empty()) cooled = installation.cool_guards(stopped.value(), hot);
  if (!leads) installation.look_for_led_jumps(codes_.read_text());
  if (!cooled.ok()) report_undone(cooled.error().message);
}

// A further process is a compiler's driver, mostly, whose children have executed other programs.
uint64_t ProcessTarget::computed_ns() const {
  constexpr uint64_t kShare = 10;
  const uint64_t children = ended_children_ns(process_.pid);
  return processor_ns(process_.pid) + (input_.number == 0 ? children : children / kShare);
}

// How long a process must have computed before its calls are worth a search. A program that waits
// most of its time, and a server whose children do, would stand once more for nothing. A further
// process is one of many, mostly: the search may cost a twentieth of what it has computed.
uint64_t ProcessTarget::worth_leading_ns() const {
  constexpr uint64_t kLeastNs = 50'000'000;
  constexpr uint64_t kNsPerByte = 20 * 5 / 2;  // a search takes 2.5 ns for a byte of text
  uint64_t bytes = 0;
  for (const MappedModule& module : process_.modules) {
    for (const AddressRange& text : module.text) bytes += text.end - text.begin;
  }
  return input_.number == 0 ? kLeastNs : std::max(kLeastNs, kNsPerByte * bytes);
}

void ProcessTarget::lead_calls() {
  const uint64_t computed = computed_ns();
  if (!watch_.computed_before_ns) watch_.computed_before_ns = computed;
  if (computed < *watch_.computed_before_ns + worth_leading_ns()) return;
  std::vector<Installation*> all;
  for (ProbeSet& set : sets_) all.push_back(&set.installation);
  // One after the other: each reads whole objects, beside a target that computes.
  bool looking = std::ranges::any_of(
      all, [](const Installation* one) { return one->is_looking_for_rebindable_calls(); });
  for (Installation* installation : all) {
    if (!looking) installation->look_for_rebindable_calls(process_.pid, codes_.read_text());
    looking = looking || installation->is_looking_for_rebindable_calls();
    if (installation->has_rebindable_calls()) rebind_calls(*installation);
  }
}

void ProcessTarget::rebind_calls(Installation& installation) {
  if (!installation.choose_calls_to_rebind(installation.detours().places())) return;
  Result<Stopped> stopped = Stopped::stop(process_.pid);
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  const Status written = installation.rebind_calls(stopped.value());
  if (!written.ok()) report_undone(written.error().message);
}

// A process that waits for it before it is traced by another, where each SIGTRAP would be a stop.
// Guards where nobody arrives stay.
void ProcessTarget::clear_tracee() {
  const pid_t tracee = number_seen(static_cast<pid_t>(words().tracee()), process_.pid);
  if (has_session_memory(tracee) && !has_memory(tracee, memory().inode()))
    return;  // it belongs to another process of the session, which will see to it
  const bool traps = std::ranges::any_of(
      sets_, [](const ProbeSet& set) { return set.installation.is_met_by_traps(); });
  if (traps && tracee == process_.pid) {
    first().want_no_traps(abi::kTraced);
    withdraw_traps();
  } else if (traps && is_session_process(tracee, process_.pid)) {
    clean_child(tracee);
  }
  words().answer_tracee();
}

void ProcessTarget::clean_child(pid_t child) {
  std::vector<std::string> failures;
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set)
    clean_process(set->memory.inode(), child, failures);
  for (const std::string& failure : failures)
    report_error("DJ5014", fmt::format("probes not removed from a forked process: {}", failure));
}

void ProcessTarget::withdraw_traps() {
  Result<Stopped> stopped = Stopped::stop(process_.pid);
  if (!stopped.ok() || !is_in_target(stopped.value())) return;
  Status withdrawn = ok_status();
  for (auto set = sets_.rbegin(); set != sets_.rend() && withdrawn.ok(); ++set)
    withdrawn = set->installation.withdraw_traps(stopped.value());
  if (!withdrawn.ok()) report_undone(withdrawn.error().message);
  stopped.value().release();
  warn_skipped_sites(sites());
}

}  // namespace dj
