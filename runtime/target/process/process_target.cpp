// SPDX-License-Identifier: Apache-2.0
// How probes come into a process, and out of it again: in the order of a session.
#include "runtime/target/process/process_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/clean/clean.h"
#include "runtime/clean/leftovers.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/early_block.h"
#include "runtime/memory/raised_semaphores.h"
#include "runtime/memory/rseq_areas.h"
#include "runtime/memory/session_end.h"
#include "runtime/memory/thread_rows.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/errno_query.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/stack_query.h"
#include "runtime/shared/thread_table.h"
#include "runtime/target/process/left_calls.h"
#include "runtime/target/process/unfollowed.h"

namespace dj {

Status check_uncaught(const Stopped& stopped) {
  for (pid_t tid : stopped.threads()) {
    if (!stopped.catches_syscalls(tid)) continue;
    return Error{fmt::format("thread {} of process {} catches system calls "
                             "(PR_SET_SYSCALL_USER_DISPATCH), those of handlers with them",
                             tid, stopped.pid()),
                 Fail::Unsupported};
  }
  return ok_status();
}

Result<uint64_t> find_arena_base(const TracedProcess* process, uint64_t bytes) {
  DJ_TRY(std::vector<Mapping> self, read_maps(0));
  if (process == nullptr) return choose_arena_base({}, self, 0, bytes);
  DJ_TRY(std::vector<Mapping> target, read_maps(process->pid));
  const uint64_t heap = heap_begin(process->pid);
  Result<uint64_t> base = choose_arena_base(target, self, heap, bytes);
  if (base.ok()) return base;
  // Where an old arena lies, which goes before this one comes, unless a thread is in its code.
  DJ_TRY(std::vector<Leftover> leftovers, find_leftovers(process->pid, target));
  return choose_arena_base(without_leftovers(target, leftovers), self, heap, bytes);
}

ProcessTarget::ProcessTarget(TracedProcess& process, ModuleCodes& codes, ProcessInput input)
    : process_(process), codes_(codes), input_(std::move(input)) {
  objects_.known = process.modules;
  objects_.watch = ModuleWatch(process.pid);
}

ProcessTarget::ProcessTarget(std::unique_ptr<TracedProcess> process, ModuleCodes& codes,
                             ProcessInput input)
    : ProcessTarget(*process, codes, std::move(input)) {
  own_process_ = std::move(process);
}

TargetFacts ProcessTarget::facts() const {
  TargetFacts facts = input_.facts;
  facts.has_trap = first().may_trap();
  facts.read_word = word_reader(process_.pid);
  return facts;
}

SessionFacts ProcessTarget::arena_facts() const {
  SessionFacts facts;
  facts.target_pid = process_.pid;
  facts.target_own_pid = own_number(process_.pid);
  facts.errno_offset = errno_offset(process_.pid, process_.modules).value_or(0);
  facts.first_stack =
      first_stack(process_.pid, held_.stopped ? held_.stopped->maps() : read_maps(process_.pid));
  return facts;
}

Result<CodeAreas> ProcessTarget::map(DetourPlan& plan, const Layout& layout) {
  layout_ = &layout;
  return sets_.empty() ? map_first(plan, layout) : map_dlopened(plan);
}

// All threads stand, and what earlier sessions have left there is gone, if it can be.
Status ProcessTarget::hold() {
  if (process_.stopped) {  // it has only been started
    held_.stopped.emplace(std::move(*process_.stopped));
    held_.unstarted = std::move(process_.unstarted);
    process_.stopped.reset();
    return ok_status();
  }
  DJ_TRY_DO(clean_abandoned(process_.pid));
  DJ_TRY_DO(clear_leftovers(process_.pid));
  if (process_.opener) process_.opener->hand_over();
  DJ_TRY(Stopped stopped, Stopped::stop(process_.pid));
  held_.stopped.emplace(std::move(stopped));
  DJ_TRY_DO(check_unheld(process_.pid));  // another djtap may have been faster
  return check_uncaught(*held_.stopped);
}

// Its threads stand.
Result<bool> ProcessTarget::can_have_rows(const DetourPlan& plan, const Layout& layout) const {
  constexpr size_t kGrowth = 4;  // times as many threads may there be later
  DJ_TRY(bool may, may_have_rows(*held_.stopped));
  return may && input_.thread_rows && input_.facts.has_rseq &&
         layout.thread_rows > kGrowth * held_.stopped->threads().size() &&
         !plan.patches.sets_gs_base;
}

// For an installation of objects that are there, or that came later.
Traps ProcessTarget::traps() const {
  const TrapsAt& at = layout_->traps;
  TrapRoom room = {.arena = layout_->base,
                   .table = at.table,
                   .bytes = at.table_bytes,
                   .data = at.data,
                   .dlopened = at.dlopened};
  if (input_.number > 0) {
    room.data = at.further + (input_.number - 1) * at.further_bytes;
    room.dlopened = kProcessTraps;
    room.bytes = abi::trap_table_bytes(at.further_traps, kProcessTraps);
  }
  if (!sets_.empty()) room.view = constants() + room.table - room.arena;
  return {room, layout_->limits.trap_cache != 0, !sets_.empty() && first().may_trap()};
}

Result<SessionMemory> ProcessTarget::map_memory(const Layout& layout,
                                                const MemoryRequest& request) {
  const ArenaPlace place = arena_place(layout);
  return input_.data == nullptr ? SessionMemory::create(*held_.stopped, place, request)
                                : SessionMemory::join(*held_.stopped, place, request, *input_.data);
}

Result<CodeAreas> ProcessTarget::map_first(DetourPlan& plan, const Layout& layout) {
  const pid_t pid = process_.pid;
  threads_.places = {process_.rseq_offset, 0, layout.header.threads.address(layout.arena()),
                     layout.header.own_stacks.address(layout.arena())};
  if (process_.rseq_registered)
    threads_.places.stack_block = stack_block_offset(pid, process_.modules);
  Installation installation = Installation::prepare(plan, process_.modules, traps(), pid, codes_);
  DJ_TRY_DO(hold());
  const bool early = input_.facts.has_rseq && process_.scout;
  if (early) threads_.awaited_rseq = process_.scout->rseq();
  process_.scout.reset();
  if (input_.facts.has_rseq && !early) DJ_TRY_DO(check_control_blocks(*held_.stopped));
  DJ_TRY(threads_.has_rows, can_have_rows(plan, layout));
  if (!threads_.has_rows) plan.count_by_calls();
  installation.copy_ahead(pid, plan, process_.stands);
  // When stubs are chosen, the mapping begins. The kernel makes mappings and copies in turn: beside
  // each other the mappings took four times as long.
  const auto choose_stubs = [&, choose = plan.stub_chooser()](auto&&... place) {
    auto stubs = choose(std::forward<decltype(place)>(place)...);
    installation.pause_copies();
    return stubs;
  };
  MemoryRequest request = {
      plan.area_modules(), plan.area_bytes(), installation.journal_bytes(plan), choose_stubs, {}};
  if (const FindSharedCode find = std::exchange(input_.shared_code, {}))
    request.shared_code = find(threads_.places);
  DJ_TRY(SessionMemory memory, map_memory(layout, request));
  if (installation.copies_ahead()) DJ_TRY_DO(memory.settle());
  installation.go_on_with_copies();
  sets_.push_back({std::move(memory), std::move(installation)});
  // A running target need not wait while code is linked, unless its loader goes on to new code.
  if (!process_.stands && !process_.opener) let_go();
  return sets_.back().memory.take_code();
}

void ProcessTarget::let_go() {
  held_.stopped->release();
  held_.pause_ns += held_.stopped->pause_ns();
  held_.stopped.reset();
}

void ProcessTarget::place(Detours detours, const abi::Header& header) {
  header_ = header;
  ProbeSet& set = sets_.back();
  set.installation.place(std::move(detours), set.memory);
  note_samples(set.installation.detours());
  if (input_.off) switch_off(set.installation);
}

void add_off(const std::vector<InstalledSite>& sites, OffHandlers& off) {
  for (const InstalledSite& site : sites) {
    for (const InstalledHandler& each : site.handlers) {
      if (each.off != 0) off[{site.address, each.probe}] |= each.off;
    }
  }
}

void ProcessTarget::switch_off(Installation& installation) const {
  const std::vector<InstalledSite> sites = installation.sites();
  for (const OffBy by : {kOffByCommand, kOffByCondition}) {
    std::set<HandlerAt> handlers;
    for (const InstalledSite& site : sites) {
      for (size_t i = 0; i < site.handlers.size(); ++i) {
        if ((input_.off(site, i) & by) != 0) handlers.insert({site.site, site.handlers[i].handler});
      }
    }
    if (!handlers.empty()) installation.switch_handlers(handlers, false, by);
  }
}

void ProcessTarget::note_samples(const Detours& detours) {
  for (size_t i = 0; i < detours.samples.size(); ++i) {
    const SampleCall& sample = detours.plan.samples[i];
    const uint64_t pc = constants() + header_.sites.offset +
                        (uint64_t{sample.site} + 1) * sizeof(abi::SiteInfo) - sizeof(uint64_t);
    watch_.sample_points[sample.host_probe] = {detours.samples[i], sample.done, pc};
  }
  if (watch_.sample_points.empty() || watch_.sampler) return;
  std::optional<int64_t> rseq;
  if (process_.rseq_registered) rseq = process_.rseq_offset;
  watch_.sampler.emplace(process_.pid, rseq, arena());
}

void ProcessTarget::sample(size_t host_probe) {
  const auto is_left_alone = [this](uint64_t address) {
    return area_at(address) != nullptr || !has_session(RunningMemory(process_.pid), header_);
  };
  watch_.sampler->run(watch_.sample_points.at(host_probe), is_left_alone);
}

Status ProcessTarget::arm() { return sets_.size() == 1 ? arm_first() : arm_dlopened(); }

// Control blocks and rows, before the first handler runs.
Status ProcessTarget::prepare_threads() {
  Stopped& stopped = *held_.stopped;
  if (threads_.awaited_rseq) DJ_TRY_DO(give_early_block(stopped, memory().threads()));
  if (input_.facts.has_rseq) {
    const RseqArea area =
        threads_.awaited_rseq.value_or(RseqArea{.offset = threads_.places.rseq_offset});
    DJ_TRY_DO(take_shared_areas(stopped, memory().threads(), area));
  }
  return threads_.has_rows ? give_rows(stopped, *layout_, constants()) : ok_status();
}

Status ProcessTarget::arm_first() {
  DJ_TRY_DO(first().ready());
  if (!held_.stopped) {
    DJ_TRY(Stopped stopped, stop_target());
    held_.stopped.emplace(std::move(stopped));
  }
  DJ_TRY_DO(sets_.front().memory.settle());
  DJ_TRY(const uint64_t denied, obey_filters(*held_.stopped));
  Status armed = prepare_threads();
  if (armed.ok()) armed = first().arm(*held_.stopped, denied);
  if (armed.ok()) armed = raise(*held_.stopped, first().detours());
  if (armed.ok() && process_.at_loader_call && input_.number > 0)
    armed = note_seen_objects(*held_.stopped);
  if (!armed.ok()) {
    DJ_TRY_DO(restore_all(*held_.stopped));
    return armed;
  }
  held_.unstarted.let_run();
  if (input_.number == 0) watch_.computed_before_ns = computed_ns();
  poll_later();
  let_go();
  return ok_status();
}

// Its loader's call need not wait for djtap to look at the same objects once more. The first
// process waits: djtap lists its sites before they are hit.
Status ProcessTarget::note_seen_objects(const Stopped& stopped) {
  const uint64_t seen = 1;
  return stopped.write(memory().threads() + offsetof(abi::ThreadTable, loader_seen),
                       {reinterpret_cast<const uint8_t*>(&seen), sizeof seen});
}

Status ProcessTarget::raise(const Stopped& stopped, const Detours& detours) {
  DJ_TRY(const size_t left_out,
         raise_semaphores(stopped, memory().threads(), detours.plan.semaphores));
  watch_.unraised += left_out;
  return ok_status();
}

// Nothing for a program that was launched and has not run: it dies with this object.
void ProcessTarget::abandon() {
  if (sets_.size() > 1) return abandon_dlopened();
  if (sets_.empty() || held_.unstarted.is_waiting()) return;
  static_cast<void>(sets_.front().memory.settle().ok());
  held_.stopped.reset();
  first().finish(process_.pid);
  static_cast<void>(clear_leftovers(process_.pid).ok());
}

ProcessInput ProcessTarget::input_of_further() const {
  ProcessInput input = input_;
  input.data = &data();
  return input;
}

bool ProcessTarget::has_ended() const {
  return watch_.is_over || (!sets_.empty() && !has_session(RunningMemory(process_.pid), header_));
}

Status ProcessTarget::restore() {
  if (sets_.empty()) return ok_status();
  for (ProbeSet& set : sets_) set.installation.end_looking();
  Result<Stopped> stop = held_.stopped ? std::move(*held_.stopped) : Stopped::stop(process_.pid);
  held_.stopped.reset();
  Status done = stop.ok() ? restore_all(stop.value()) : Status(stop.error());
  close_loader_talk();  // what waits there may be what must not run while a session counts in rows
  if (!done.ok()) return done;
  stop.value().release();
  watch_.is_over = true;
  // The session is over; what cannot go yet is the next one's to take away, or clean's.
  static_cast<void>(clear_leftovers(process_.pid).ok());
  return done;
}

// A thread that stands in a detour, perhaps asleep in a system call of the program's, goes on where
// the instructions of the detour's text stand.
Status ProcessTarget::send_home(Stopped& stopped) {
  std::vector<uint64_t> inside;
  for (const pid_t tid : stopped.threads()) {
    DJ_TRY(const user_regs_struct regs, stopped.registers(tid));
    if (area_at(regs.rip) != nullptr) inside.push_back(regs.rip);
  }
  if (inside.empty()) return ok_status();
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set)
    DJ_TRY_DO(set->installation.send_home(stopped, inside));
  return ok_status();
}

Status ProcessTarget::take_out(Stopped& stopped, ProbeSet& set) {
  const std::vector<uint64_t>& semaphores = set.installation.detours().plan.semaphores;
  const Status lowered = lower_semaphores(stopped, memory().threads(), semaphores);
  const Status disarmed = set.installation.disarm(stopped);
  return disarmed.ok() ? lowered : disarmed;
}

void ProcessTarget::count_left_calls_of(const Stopped& stopped) const {
  if (!header_.captures.is_set() || arena().word(header_.captures.address(abi::arena_of(&header_)) +
                                                 offsetof(abi::Captures, counting))
                                            .number() == 0)
    return;
  count_left_calls(stopped, {arena(), layout_->words.captures, input_.capture_handlers});
}

// In reverse order: a set uses what the sets before it have brought. What cannot be taken out of
// one object stays there alone.
Status ProcessTarget::restore_all(Stopped& stopped) {
  if (!is_in_target(stopped)) return ok_status();
  leave_debug_list(process_.pid);
  Status result = ok_status();
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set) {
    const Status done = take_out(stopped, *set);
    if (result.ok()) result = done;
  }
  count_left_calls_of(stopped);
  if (!result.ok()) return result;  // a place that is left may still lead to a counter
  DJ_TRY_DO(send_home(stopped));
  if (threads_.has_rows) DJ_TRY_DO(take_rows(stopped));
  if (threads_.awaited_rseq) DJ_TRY_DO(take_early_block(stopped, memory().threads()));
  DJ_TRY_DO(return_shared_areas(stopped, memory().threads(), memory().inode()));
  DJ_TRY_DO(set_ended(stopped, memory().threads()));
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set)
    set->installation.finish(process_.pid);
  return ok_status();
}

ForksLeft ProcessTarget::restore_forks(const MemoryUsers& users) {
  ForksLeft left;
  if (sets_.empty()) return left;
  // A forked process that has memory of later objects has the session's own, too. Mostly there is
  // none.
  const auto found = users.find(memory().inode());
  if (found == users.end() ||
      std::ranges::all_of(found->second, [this](pid_t pid) { return pid == process_.pid; }))
    return left;
  std::vector<pid_t> forked;
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set)
    forked = clean_session_processes(set->memory.inode(), process_.pid, left.failures);
  left.count = forked.size();
  LivingProcesses living = name_living(forked);
  left.living = living.count;
  left.names = std::move(living.names);
  return left;
}

bool ProcessTarget::has_forks(const std::set<uint64_t>& memories) const {
  return std::ranges::any_of(
      sets_, [&](const ProbeSet& set) { return memories.contains(set.memory.inode()); });
}

void ProcessTarget::keep() { first().detours().keep(codes_); }

// Each process of a session can write the session's word, so the process's own decides.
uint64_t ProcessTarget::end_wanted() const {
  if (words().end_wanted() == abi::kNoEnd) return abi::kNoEnd;
  uint64_t why = abi::kNoEnd;
  const uint64_t word = memory().threads() + offsetof(abi::ThreadTable, end_wanted);
  return RunningMemory(process_.pid).read(word, &why, sizeof why) ? why : uint64_t{abi::kNoEnd};
}

std::string ProcessTarget::why_over() const {
  if (sets_.empty() || watch_.is_over) return "";
  const std::string& setter = objects_.gs_base_setter;
  switch (setter.empty() ? end_wanted() : uint64_t{abi::kEndForGsBase}) {
    case abi::kEndForGsBase:
      return fmt::format(
          "{} sets its gs base, in which djtap's counters lie; --no-thread-rows does "
          "without",
          setter.empty() ? "the program" : setter);
    case abi::kEndForControlBlock:
      return "the program starts a thread whose control block is not the C library's (or makes it "
             "so): handlers cannot find out there how to count";
    case abi::kEndForDispatch:
      return "the program catches system calls (PR_SET_SYSCALL_USER_DISPATCH), those of handlers "
             "with them";
    case abi::kEndForFilter:
      return "the program installs a seccomp filter that looks at the addresses of system calls, "
             "which detours have moved";
    default:
      return "";
  }
}

std::vector<InstalledSite> ProcessTarget::sites() const {
  std::vector<InstalledSite> all;
  for (const ProbeSet& set : sets_) {
    std::vector<InstalledSite> more = set.installation.sites();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<InstalledSite> ProcessTarget::latest_sites() const {
  return sets_.back().installation.sites();
}

std::vector<InstalledSite> ProcessTarget::skipped_sites() const { return first().skipped_sites(); }

void ProcessTarget::warn_of_unprobed() {
  if (first().detours().count() > 0) warn_of_earlier(process_.pid);
}

ArmReport ProcessTarget::report() const {
  ArmReport report;
  report.armed = first().armed_count();
  report.sites = first().detours().count();
  report.times = first().times();
  report.memory = first().site_memory();
  report.pause_ns = held_.pause_ns;
  if (watch_.sampler) report.samples = watch_.sampler->samples();
  return report;
}

}  // namespace dj
