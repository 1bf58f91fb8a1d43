// SPDX-License-Identifier: Apache-2.0
// The order in which a session comes to life; each ability has its own file.
#include "runtime/session/session.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compiler/stages/samples.h"
#include "runtime/clean/clean.h"
#include "runtime/clean/leftovers.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/arena_format.h"
#include "runtime/memory/early_block.h"
#include "runtime/memory/raised_semaphores.h"
#include "runtime/memory/rseq_areas.h"
#include "runtime/memory/session_end.h"
#include "runtime/memory/thread_rows.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/errno_query.h"
#include "runtime/process/kin.h"
#include "runtime/process/os_error.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/stack_query.h"
#include "runtime/session/left_calls.h"
#include "runtime/session/report.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/thread_table.h"

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
  DJ_TRY(ProcessStatus status, read_status(process->pid));
  Result<uint64_t> base = choose_arena_base(target, self, status.heap_begin, bytes);
  if (base.ok()) return base;
  // Where an old arena lies, which goes before this one comes, unless a thread is in its code.
  DJ_TRY(std::vector<Leftover> leftovers, find_leftovers(process->pid, target));
  return choose_arena_base(without_leftovers(target, leftovers), self, status.heap_begin, bytes);
}

Result<Session> Session::create(TracedProcess* process, ModuleCodes& codes,
                                const SessionInput& input, PatchPlan patches) {
  Session session;
  session.header_ = input.layout.header;
  session.capture_handlers_ = capture_handlers(input.plan);
  session.layout_ = &input.layout;
  session.patching_ = input.patching;
  session.facts_ = input.facts;
  session.writable_text_ = input.writable_text;
  session.read_text_ = codes.read_text();
  if (process != nullptr) {
    session.pid_ = process->pid;
    session.known_ = process->modules;
    session.module_watch_ = ModuleWatch(process->pid);
    session.agent_places_ = {process->rseq_offset, 0, session.header_.threads,
                             session.header_.own_stacks};
    if (process->rseq_registered)
      session.agent_places_.stack_block = stack_block_offset(process->pid, process->modules);
  }
  DJ_TRY_DO(process == nullptr ? session.map_own_arena(input.layout)
                               : session.map_memory(*process, codes, input, std::move(patches)));
  SessionFacts facts;
  facts.target_pid = session.pid_;
  facts.target_own_pid = own_numbers(session.pid_).pid;
  facts.stack_tables = input.stack_tables;
  if (process != nullptr) {
    facts.errno_offset = errno_offset(process->pid, process->modules).value_or(0);
    facts.first_stack = first_stack(process->pid);
  }
  if (getrandom(&facts.ticket, sizeof facts.ticket, 0) < 0)
    facts.ticket = static_cast<uint64_t>(session.pid_);
  std::span<uint8_t> arena(reinterpret_cast<uint8_t*>(input.layout.base), input.layout.bytes);
  DJ_TRY(session.header_, format_arena(arena, input.layout, input.program, input.plan, facts));
  DJ_TRY(session.host_, link_host(input.image));
  if (session.installation_) {
    LinkCode link_code = [&](uint64_t base, std::span<uint8_t> working) {
      return link(input.image, base, working, session.agent_places_);
    };
    DJ_TRY_DO(session.installation_->place(*session.memory_, link_bytes(input.image), link_code));
    std::optional<int64_t> rseq;
    if (process->rseq_registered) rseq = process->rseq_offset;
    DJ_TRY_DO(session.place_samples(input.plan, rseq));
  }
  return session;
}

Status Session::place_samples(const Plan& plan, std::optional<int64_t> rseq_offset) {
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    const HostProbe& probe = plan.host_probes[i];
    if (!is_sample(plan, probe)) continue;
    const auto site = static_cast<SiteId>(plan.sites.size() + i);
    const uint64_t done = layout_->sample_words + 8 * i;
    DJ_TRY(uint64_t code, installation_->place_sample(probe.handler, site, done));
    const uint64_t pc =
        header_.sites + (uint64_t{site} + 1) * sizeof(abi::SiteInfo) - sizeof(uint64_t);
    sample_points_[i] = {code, done, pc};
    if (!sampler_) sampler_.emplace(pid_, rseq_offset, arena());
  }
  return ok_status();
}

void Session::sample(size_t host_probe) {
  const auto is_left_alone = [this](uint64_t address) {
    return island_at(address) != nullptr || !has_session(RunningMemory(pid_), header());
  };
  sampler_->run(sample_points_.at(host_probe), is_left_alone);
}

Status Session::map_own_arena(const Layout& layout) {
  void* wanted = reinterpret_cast<void*>(layout.base);
  void* got = mmap(wanted, layout.bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  const ArenaPlace place = arena_place(layout);
  if (got != wanted || !map_private(place))
    return Error{fmt::format("cannot map the data arena: {}", std::strerror(errno))};
  const uint64_t bytes = place.end() - place.base;
  host_arena_ = std::shared_ptr<void>(got, [bytes](void* p) { munmap(p, bytes); });
  return ok_status();
}

// All threads of `process` stand, and what earlier sessions have left there is gone, if it can be.
Status Session::hold(TracedProcess& process) {
  if (process.stopped) {  // it has only been started
    stopped_.emplace(std::move(*process.stopped));
    unstarted_ = std::move(process.unstarted);
    process.stopped.reset();
    return ok_status();
  }
  DJ_TRY_DO(clean_abandoned(process.pid));
  DJ_TRY_DO(clear_leftovers(process.pid));
  DJ_TRY(Stopped stopped, Stopped::stop(process.pid));
  stopped_.emplace(std::move(stopped));
  DJ_TRY_DO(check_unheld(process.pid));  // another djtap may have been faster
  return check_uncaught(*stopped_);
}

// Its threads stand.
Result<bool> Session::can_have_rows(const SessionInput& input,
                                    const Installation& installation) const {
  constexpr size_t kGrowth = 4;  // times as many threads may there be later
  DJ_TRY(bool may, may_have_rows(*stopped_));
  return may && input.thread_rows && input.facts.has_rseq &&
         input.layout.thread_rows > kGrowth * stopped_->threads().size() &&
         !installation.sets_gs_base();
}

TargetFacts Session::later_facts() const {
  TargetFacts facts = facts_;
  facts.has_trap = installation_->may_trap();
  facts.read_word = word_reader(pid_);
  return facts;
}

Status Session::map_memory(TracedProcess& process, ModuleCodes& codes, const SessionInput& input,
                           PatchPlan patches) {
  const InstallInput install = {.plan = input.plan,
                                .layout = input.layout,
                                .abis = input.abis,
                                .modules = process.modules,
                                .pid = process.pid,
                                .switched = input.patching.switched};
  Installation installation = Installation::prepare(std::move(patches), install, codes);
  DJ_TRY_DO(hold(process));
  const bool early = input.facts.has_rseq && process.scout;
  if (early) awaited_rseq_ = process.scout->rseq();
  process.scout.reset();
  if (input.facts.has_rseq && !early) DJ_TRY_DO(check_control_blocks(*stopped_));
  DJ_TRY(has_rows_, can_have_rows(input, installation));
  if (!has_rows_) installation.count_by_calls();
  installation.copy_ahead(process.pid);
  // When stubs are chosen, the mapping begins. The kernel makes mappings and copies in turn: beside
  // each other the mappings took four times as long.
  const auto choose_stubs = [&, choose = installation.stub_chooser()](auto... place) {
    auto stubs = choose(std::move(place)...);
    installation.pause_copies();
    return stubs;
  };
  uint64_t island_bytes = link_bytes(input.image) + installation.detour_bytes();
  DJ_TRY(SessionMemory memory,
         SessionMemory::create(*stopped_, arena_place(input.layout), installation.island_modules(),
                               island_bytes, installation.journal_bytes(), choose_stubs));
  installation.go_on_with_copies();
  memory_.emplace(std::move(memory));
  installation_.emplace(std::move(installation));
  semaphores_ = Semaphores(input.plan, process.modules);
  if (!process.is_child) let_go();  // a running target need not wait while code is linked
  return ok_status();
}

void Session::let_go() {
  stopped_->release();
  arm_pause_ns_ += stopped_->pause_ns();
  stopped_.reset();
}

void Session::run_host(HandlerId handler) {
  auto found = host_.symbols.find(fmt::format("dj_handler_{}", handler));
  CHECK(found != host_.symbols.end());
  reinterpret_cast<void (*)()>(found->second)();
}

Status Session::arm() {
  if (!installation_) return ok_status();
  DJ_TRY_DO(installation_->ready(pid_));
  if (!stopped_) {
    DJ_TRY(Stopped stopped, stop_target());
    stopped_.emplace(std::move(stopped));
  }
  DJ_TRY(const uint64_t denied, obey_filters(*stopped_));
  Status armed = ok_status();
  if (awaited_rseq_) armed = give_early_block(*stopped_, memory_->threads());
  if (armed.ok() && facts_.has_rseq) {
    const RseqArea area = awaited_rseq_.value_or(RseqArea{.offset = agent_places_.rseq_offset});
    armed = take_shared_areas(*stopped_, memory_->threads(), area);
  }
  if (armed.ok() && has_rows_) armed = give_rows(*stopped_, *layout_);
  if (armed.ok()) armed = installation_->arm(*stopped_, denied);
  if (armed.ok()) armed = raise(*stopped_, semaphores_);
  if (!armed.ok()) {
    DJ_TRY_DO(disarm_all(*stopped_));
    return armed;
  }
  unstarted_.let_run();
  used_at_arm_ns_ = processor_ns(pid_);
  let_go();
  return ok_status();
}

void Session::leave_unarmed() {
  if (!installation_ || unstarted_.is_waiting()) return;
  stopped_.reset();
  installation_->finish(pid_);
  static_cast<void>(clear_leftovers(pid_).ok());
}

Status Session::raise(const Stopped& stopped, const Semaphores& semaphores) {
  DJ_TRY(size_t left_out, raise_semaphores(stopped, memory_->threads(), semaphores.addresses()));
  unraised_ += left_out;
  return ok_status();
}

Status Session::disarm() {
  if (!installation_) return ok_status();
  installation_->end_looking();
  for (Later& later : later_) later.installation.end_looking();
  Result<Stopped> stop = stopped_ ? std::move(*stopped_) : Stopped::stop(pid_);
  stopped_.reset();
  Status done = stop.ok() ? disarm_all(stop.value()) : Status(stop.error());
  close_loader_talk();  // what waits there may be what must not run while a session counts in rows
  if (!done.ok()) return done;
  stop.value().release();
  // The session is over; what cannot go yet is the next one's to take away, or clean's.
  static_cast<void>(clear_leftovers(pid_).ok());
  return done;
}

// Who stands in a detour, perhaps asleep in a system call of the program's, need not keep it.
Status Session::send_home(Stopped& stopped) {
  std::vector<uint64_t> inside;
  for (const pid_t tid : stopped.threads()) {
    DJ_TRY(const user_regs_struct regs, stopped.registers(tid));
    if (island_at(regs.rip) != nullptr) inside.push_back(regs.rip);
  }
  if (inside.empty()) return ok_status();
  for (Later& later : later_) DJ_TRY_DO(later.installation.send_home(stopped, inside));
  return installation_->send_home(stopped, inside);
}

// What came last goes first: it uses what was there before. What cannot be taken out of one object
// stays there alone.
Status Session::disarm_all(Stopped& stopped) {
  if (!is_in_target(stopped)) return ok_status();
  leave_debug_list(pid_);
  Status first = ok_status();
  const auto take_out = [&](const Semaphores& semaphores, Installation& installation) {
    const Status lowered = lower_semaphores(stopped, memory_->threads(), semaphores.addresses());
    const Status disarmed = installation.disarm(stopped);
    if (first.ok()) first = disarmed.ok() ? lowered : disarmed;
  };
  for (auto later = later_.rbegin(); later != later_.rend(); ++later) {
    take_out(later->semaphores, later->installation);
  }
  take_out(semaphores_, *installation_);
  if (header_.captures != 0 &&
      arena().word(header_.captures + offsetof(abi::Captures, counting)).number() != 0) {
    count_left_calls(stopped, {arena(), layout_->capture_data, capture_handlers_});
  }
  if (!first.ok()) return first;  // somebody may still lead to a counter
  DJ_TRY_DO(send_home(stopped));
  if (has_rows_) DJ_TRY_DO(take_rows(stopped));
  if (awaited_rseq_) DJ_TRY_DO(take_early_block(stopped, memory_->threads()));
  DJ_TRY_DO(return_shared_areas(stopped, memory_->threads(), memory_->inode()));
  DJ_TRY_DO(set_ended(stopped, memory_->threads()));
  for (Later& later : later_) later.installation.finish(pid_);
  installation_->finish(pid_);
  return ok_status();
}

std::string Session::why_over() {
  if (!installation_) return "";
  switch (gs_base_setter_.empty() ? words().end_wanted() : abi::kEndForGsBase) {
    case abi::kEndForGsBase:
      return fmt::format(
          "{} sets its gs base, in which djtap's counters lie; --no-thread-rows does "
          "without",
          gs_base_setter_.empty() ? "the program" : gs_base_setter_);
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

std::vector<pid_t> Session::clean_forked(std::vector<std::string>& failures) {
  // A forked process that has memory of later objects has the session's own, too. Mostly there is
  // none, and one search tells.
  const std::vector<pid_t> kin = memory_ ? find_kin(memory_->inode()) : std::vector<pid_t>();
  if (std::ranges::all_of(kin, [this](pid_t pid) { return pid == pid_; })) return {};
  for (auto later = later_.rbegin(); later != later_.rend(); ++later) {
    clean_kin(later->memory.inode(), pid_, failures);
  }
  return clean_kin(memory_->inode(), pid_, failures);
}

}  // namespace dj
