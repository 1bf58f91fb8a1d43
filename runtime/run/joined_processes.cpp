// SPDX-License-Identifier: Apache-2.0
// A process joins as the session's first was prepared, but in an arena that is there already.
#include "runtime/run/joined_processes.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "compiler/debuginfo/call_frames.h"
#include "compiler/resolve/path_glob.h"
#include "compiler/resolve/program_files.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stages/stack_info.h"
#include "runtime/output/messages.h"
#include "runtime/patch/hooks.h"
#include "runtime/process/os_error.h"
#include "runtime/process/session_processes.h"
#include "runtime/run/target.h"
#include "runtime/session/report.h"
#include "runtime/target/report_sites.h"

namespace dj {

JoinedProcesses::FileNames JoinedProcesses::files_of(const std::vector<MappedModule>& modules) {
  FileNames files;
  for (const MappedModule& module : modules) files.emplace_back(module.path, module.version);
  return files;
}

JoinedProcesses::JoinedProcesses(FurtherPlans& plans, const std::vector<MappedModule>& first,
                                 ProcessInput input, bool lists_sites,
                                 std::function<void(int)> joins)
    : plans_(plans),
      compiled_(plans.compiled()),
      input_(std::move(input)),
      lists_sites_(lists_sites),
      joins_(std::move(joins)) {
  known_.push_back(
      {files_of(first), compiled_.facts.has_rseq, std::nullopt, std::nullopt, KeptPatches(), true});
}

namespace {

// The sites of host probes belong to the session's first plan, so do the words of their samples.
std::vector<SampleCall> samples_of(const Plan& plan, const Plan& first, const Layout& layout) {
  std::vector<SampleCall> samples = sample_calls(plan, layout);
  for (SampleCall& sample : samples)
    sample.site = static_cast<SiteId>(first.sites.size() + sample.host_probe);
  return samples;
}

}  // namespace

Result<JoinedProcesses::Known*> JoinedProcesses::plan_for(const std::vector<MappedModule>& modules,
                                                          bool has_rseq) {
  FileNames files = files_of(modules);
  const auto is_it = [&](const Known& each) {
    return !each.is_old && each.files == files && each.has_rseq == has_rseq;
  };
  if (const auto found = std::ranges::find_if(known_, is_it); found != known_.end()) {
    known_.splice(known_.end(), known_, found);
    return &*found;
  }
  forget_oldest();
  Diags errors;  // points that mean nothing here may mean something in another process
  TargetFiles read = files_of_process(modules);
  read.helpers = compiled_.helpers;
  Plan plan = resolve(compiled_.program, read, errors, compiled_.own.follows_calls);
  const auto program = std::ranges::find_if(modules, &MappedModule::is_executable_file);
  if (program != modules.end()) {
    for (const Diag& diag : errors_in_libraries(compiled_.program, program->path, errors))
      report_warning(diag.code, diag.help.empty()
                                    ? diag.message
                                    : fmt::format("{} ({})", diag.message, diag.help));
  }
  DJ_TRY(FurtherPlan further, plans_.compile_program(std::move(plan), modules, has_rseq));
  further.samples = samples_of(further.plan, compiled_.plan, compiled_.layout);
  known_.push_back({std::move(files), has_rseq, std::move(further), std::nullopt, KeptPatches()});
  return &known_.back();
}

// A build may execute thousands of programs once: each plan takes up to megabytes.
void JoinedProcesses::forget_oldest() {
  constexpr size_t kMost = 64;
  if (known_.size() < kMost) return;
  const auto found = std::ranges::find_if(known_, [this](const Known& known) {
    return known.further && std::ranges::find(members_, &known, &Member::known) == members_.end();
  });
  if (found == known_.end()) return;
  for (const auto& [path, version] : found->files) opened_.insert(path);
  known_.erase(found);
}

Status JoinedProcesses::prepare(const Target& target) {
  const Result<Known*> known = plan_for(target.objects(), target.facts().has_rseq);
  return known.ok() ? ok_status() : Status(known.error());
}

void JoinedProcesses::forget_plans() {
  for (Known& known : known_) known.is_old = true;
  off_.clear();
  for (const auto& target : session().targets()) {
    if (!target->has_ended()) add_off(target->sites(), off_);
  }
}

// What an ended process has left in its data goes.
Result<uint32_t> JoinedProcesses::free_number() {
  const TrapsAt& traps = compiled_.layout.traps;
  std::vector<bool> taken(traps.processes);
  for (const Member& member : members_) taken[member.number] = true;
  for (uint32_t number = 1; number < traps.processes; ++number) {
    if (taken[number]) continue;
    const uint64_t at = traps.further + (number - 1) * traps.further_bytes;
    void* const data = reinterpret_cast<void*>(at);
    const bool is_fresh = number > most_numbers_;
    most_numbers_ = std::max(most_numbers_, number);
    if (is_fresh || madvise(data, traps.further_bytes, MADV_REMOVE) == 0) return number;
    return os_error("cannot empty the data of an ended process");
  }
  return Error{
      fmt::format("the session has {} processes already", compiled_.layout.traps.processes)};
}

// djtap skips a site for the same reason in each process of a program, and a site of a library in
// each program: it warns once.
std::vector<InstalledSite> JoinedProcesses::new_skips(const Target& joined) const {
  const auto name_of = [](const InstalledSite& site) {
    return fmt::format("{} {} {}", site.module, site.symbol, site.reason);
  };
  std::set<std::string> told;
  for (const auto& target : session().targets()) {
    if (target.get() == &joined) continue;
    for (const InstalledSite& site : target->skipped_sites()) told.insert(name_of(site));
  }
  std::vector<InstalledSite> skips = joined.skipped_sites();
  std::erase_if(skips, [&](const InstalledSite& site) { return told.contains(name_of(site)); });
  return skips;
}

void JoinedProcesses::report_joined(const Member& member, int pid) const {
  Target& target = *member.target;
  if (lists_sites_) {
    std::vector<InstalledSite> sites = target.latest_sites();
    for (InstalledSite& site : sites) site.pid = pid;
    report_sites(sites);
  }
  if (!std::exchange(member.known->is_told, true)) warn_skipped_sites(new_skips(target));
  warn_unraised(target);
}

Status JoinedProcesses::join(TracedProcess process) { return take_in(std::move(process), false); }

Status JoinedProcesses::join_again(const Target* left, TracedProcess process) {
  const auto found = std::ranges::find(members_, left, &Member::target);
  if (found != members_.end()) {
    end(*found);
    members_.erase(found);
  }
  return take_in(std::move(process), true);
}

Status JoinedProcesses::take_in(TracedProcess process, bool is_again) {
  const int pid = process.pid;
  DJ_TRY(const uint32_t number, free_number());
  DJ_TRY(ExitWatch exit, ExitWatch::create(process.pid, false));
  Member member = {std::move(exit), {}, {}, number, is_again};
  DJ_TRY_DO(join(member, std::make_unique<TracedProcess>(std::move(process))));
  report_joined(member, pid);
  if (member.stacks)
    member.jit =
        std::make_unique<JitWatch>(pid, *member.stacks, session().stack_room(*member.target));
  members_.push_back(std::move(member));
  return ok_status();
}

void JoinedProcesses::make_stacks(Member& member, Known& known,
                                  const std::vector<MappedModule>& modules) {
  if (!compiled_.stacks) return;
  if (!known.stacks) known.stacks.emplace(compiled_.stacks->for_process(modules));
  member.stacks = std::make_unique<StackTables>(known.stacks->moved_to(modules));
  compiled_.stacks->add_elsewhere(modules);
}

Status JoinedProcesses::join(Member& member, std::unique_ptr<TracedProcess> joining) {
  TracedProcess& process = *joining;
  DJ_TRY_DO(process.find_rseq());
  std::string why;
  const bool has_rseq =
      can_trust_rseq(process.rseq_registered, process.modules, plans_.codes(), &why);
  ProcessInput input = input_;
  DJ_TRY(input.facts, process.facts(has_rseq));
  input.number = member.number;
  input.off = off_from_begin(member.is_again);
  DJ_TRY(Known * known, plan_for(process.modules, input.facts.has_rseq));
  const std::optional<FurtherPlan>& further = known->further;
  const PlannedCode code = further ? PlannedCode{further->plan, further->code->image,
                                                 further->code->abis, further->samples}
                                   : PlannedCode{compiled_.plan, compiled_.image, compiled_.abis,
                                                 sample_calls(compiled_.plan, compiled_.layout)};
  input.shared_code = [&](const AgentPlaces& places) {
    return session().shared_code(code.image, places);
  };
  DetourPlan detours = plans_.detours(code, process.modules, input.facts, 0, &known->patches);
  make_stacks(member, *known, process.modules);
  const std::span<const uint8_t> stacks =
      member.stacks ? member.stacks->bytes() : std::span<const uint8_t>();
  if (stacks.size() > compiled_.stack_room())
    return Error{"there is no room for the tables by which its stacks are walked"};
  if (!member.is_again) joins_(process.pid);
  auto target =
      std::make_unique<ProcessTarget>(std::move(joining), plans_.codes(), std::move(input));
  member.target = target.get();
  member.known = known;
  return session().join(std::move(target), {code.image, detours}, stacks);
}

// What the user has switched off, and in a process that joins again all that was off there.
FindOff JoinedProcesses::off_from_begin(bool is_again) {
  const SwitchRules& rules = session().switch_rules();
  if (!is_again && !rules.has_any()) return {};
  const OffHandlers before = is_again ? off_ : OffHandlers();
  return [&rules, before](const InstalledSite& site, size_t handler) {
    const auto found = before.find({site.address, site.handlers[handler].probe});
    const unsigned off = found != before.end() ? found->second : 0u;
    return static_cast<uint8_t>(rules.is_off(site, handler) ? off | kOffByCommand : off);
  };
}

// A process that has executed another program lives on without the session.
bool JoinedProcesses::has_left(const Member& member, bool looks_at_memory) const {
  return member.exit.ended() || (looks_at_memory && member.target->has_ended());
}

void JoinedProcesses::poll() {
  constexpr uint64_t kIntervalNs = 500'000'000;
  session().end_one();
  const bool looks = now_ns() >= look_next_ns_;
  if (looks) look_next_ns_ = now_ns() + kIntervalNs;
  std::erase_if(members_, [&](Member& member) {
    const bool left = has_left(member, looks);
    if (left) end(member);
    return left;
  });
  for (const Member& member : members_) {
    if (member.jit) member.jit->look();
  }
  drop_ended();
}

void JoinedProcesses::end(const Member& member) {
  constexpr uint64_t kEach = 256 << 10, kSite = 400;  // about: its files, mappings, places
  ended_.bytes += kEach + kSite * member.target->report().sites +
                  (member.stacks ? member.stacks->bytes().size() : 0);
  session().set_ended(*member.target);
}

// To see which of them have forks, djtap looks at all processes: once for so many that have ended.
void JoinedProcesses::drop_ended() {
  constexpr uint64_t kMany = 64 << 20;
  if (ended_.bytes < kMany || session().ended().size() < 2 * ended_.kept) return;
  session().drop_ended(mapped_session_files());
  ended_ = {.bytes = 0, .kept = session().ended().size()};
}

void JoinedProcesses::note_opened(std::span<const MappedModule> objects) {
  for (const MappedModule& object : objects) opened_.insert(object.path);
}

JoinedProcesses::NeverSeen JoinedProcesses::never_seen() const {
  std::set<std::string> seen = opened_;
  for (const Known& known : known_) {
    for (const auto& [path, version] : known.files) seen.insert(path);
  }
  NeverSeen never = {program_files(compiled_.program, Named::Exactly),
                     missing_libraries(compiled_.program, {seen.begin(), seen.end()})};
  std::erase_if(never.programs, [&](const std::string& path) { return seen.contains(path); });
  for (const std::string& pattern : program_patterns(compiled_.program)) {
    const auto matches = [&](const std::string& path) { return path_glob(pattern, path); };
    if (std::ranges::none_of(seen, matches)) never.programs.push_back(pattern);
  }
  return never;
}

StackTables* JoinedProcesses::stacks_of(const Target& target) {
  for (Member& member : members_) {
    if (member.target == &target) return member.stacks.get();
  }
  return nullptr;
}

}  // namespace dj
