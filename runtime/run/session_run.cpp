// SPDX-License-Identifier: Apache-2.0
// The session's steps, each by the rooms below.
#include "runtime/run/session_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/base/printable.h"
#include "runtime/kernel/kernel_target.h"
#include "runtime/kernel/module_load.h"
#include "runtime/output/messages.h"
#include "runtime/output/report_calls.h"
#include "runtime/output/terminal.h"
#include "runtime/process/named_processes.h"
#include "runtime/process/open_files.h"
#include "runtime/process/own_tracee.h"
#include "runtime/process/session_processes.h"
#include "runtime/run/other_processes.h"
#include "runtime/run/report_session.h"
#include "runtime/run/show.h"
#include "runtime/run/target.h"
#include "runtime/run/trace_target.h"
#include "runtime/session/report.h"
#include "runtime/target/process/process_target.h"
#include "runtime/target/process/unfollowed.h"
#include "runtime/target/report_sites.h"

namespace dj {
namespace {

// Who takes what handlers print; null: it is written as text. `monitor` may become null.
RecordSink sink_of(bool writes_file, LuaOutputs& lua, std::unique_ptr<Monitor>& monitor,
                   Output& output) {
  if (lua.takes_records()) return [&](const PrintRecord& record) { lua.record(record, output); };
  if (!monitor || writes_file) return nullptr;
  return [&](const PrintRecord& record) {
    if (monitor) return monitor->add_output(record.text);
    output.write(record.text);
  };
}

int child_exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Of the target, which may have a thread that did not stop in time.
std::optional<int> wait_for_end(ExitWatch& watch) {
  constexpr int kLookMs = 20;
  for (bool late = true; !watch.ended(kLookMs);) {
    late = late && !Stopped::let_go_of_late();
    if (!late) let_go_of_own_tracee(watch.pid());
  }
  return watch.wait_status(-1);
}

// Its wait status, if there is one to be had. Who has ended the session and sees no prompt is told
// why.
std::optional<int> wait_for_command(ExitWatch& watch) {
  constexpr int kPatienceMs = 500;
  if (std::optional<int> status = watch.wait_status(kPatienceMs)) return status;
  if (is_drawn_on(STDERR_FILENO))
    log_line("djtap: the session is over, the command goes on; Ctrl-C ends it");
  return wait_for_end(watch);
}

void report_why_over(const Result<Ended>& ended, Session& session) {
  if (!ended.ok()) report_error("DJ5013", ended.error().message);
  const std::string over = session.why_over();
  if (!over.empty()) report_warning("DJ5902", fmt::format("the session ends: {}", over));
}

// The process or the kernel, if there is one.
Result<Targets> targets_of(const Prepared& prepared, const ProcessInput& input) {
  Targets targets;
  FoundTarget& found = prepared.target;
  if (found.kernel) {
    DJ_TRY(std::unique_ptr<KernelLink> link, open_kernel(ModuleFiles(), prepared.mask));
    targets.push_back(std::make_unique<KernelTarget>(
        std::move(link), *found.kernel,
        SessionFacts{.target_pid = found.pid(), .target_own_pid = found.pid()}));
  }
  if (!found.process) return targets;
  targets.push_back(std::make_unique<ProcessTarget>(*found.process, prepared.codes, input));
  return targets;
}

// Fails when there is no place at all where a probe can be, and none may come; says why. What is
// refused only when the target is probed (masks of running threads ...) is a warning.
Status check_placed(const Compiled& compiled, const Session& session, bool lists_sites) {
  const Target* const target = session.target();
  if (target == nullptr || compiled.plan.expects_objects) return ok_status();
  if (target->can_be_hit()) return ok_status();
  const std::vector<InstalledSite> skipped = target->skipped_sites();
  const size_t places = skipped.size();
  if (places == 0) return ok_status();
  for (const Probe& probe : compiled.program.probes) {
    if (std::any_of(probe.points.begin(), probe.points.end(),
                    [](const ast::ProbePoint& point) { return point.optional; }))
      return ok_status();
  }
  if (lists_sites) report_sites(skipped);
  warn_skipped_sites(skipped);
  return Error{places == 1
                   ? "the one place that is meant cannot be probed"
                   : fmt::format("none of the {} places that are meant can be probed", places)};
}

// Null: it is not asked for.
Result<std::unique_ptr<Monitor>> open_monitor(bool is_wanted, const Prepared& prepared,
                                              const HostProbes& host_probes) {
  if (!is_wanted) return std::unique_ptr<Monitor>();
  if (host_probes.wants_input()) return Error{"--monitor and input probes want the same keys"};
  const Compiled& compiled = prepared.compiled;
  return Monitor::open(
      {compiled.program, compiled.plan, prepared.sources, compiled.layout, compiled.own.timed});
}

// Null: no handler names code.
std::unique_ptr<JitWatch> watch_made_code(const std::optional<TracedProcess>& process,
                                          Compiled& compiled, const Session& session) {
  if (!process || !compiled.stacks) return nullptr;
  const abi::Header& header = session.header();
  auto* tables = reinterpret_cast<uint8_t*>(header.stack_tables.get(abi::arena_of(&header)));
  auto watch = std::make_unique<JitWatch>(process->pid, *compiled.stacks,
                                          std::span(tables, compiled.stacks->room()));
  watch->look();
  return watch;
}

}  // namespace

SessionRun::SessionRun(const Prepared& prepared, const SessionChoices& steering,
                       const StageChoices& stages, const StressChoices& stress)
    : prepared_(prepared), steering_(steering), stages_(stages), stress_(stress) {}

std::optional<int> SessionRun::open(const ReportChoices& report, const CommandLine& line) {
  outlive_readers();
  Result<Output> opened = Output::open(report.output_path, report.rotation);
  if (!opened.ok()) return fail_without(line, "-o", opened.error().message);
  output_.emplace(opened.take());
  if (steering_.control_path.empty()) return std::nullopt;
  Result<ControlSocket> listening = ControlSocket::listen(steering_.control_path);
  if (!listening.ok()) return fail_without(line, "--control", listening.error().message);
  control_.emplace(listening.take());
  return std::nullopt;
}

// Behind it, layout.header has all that only the session knows.
std::optional<int> SessionRun::build_detours(bool writable_text, bool thread_rows) {
  Compiled& compiled = prepared_.compiled;
  Result<Targets> targets =
      targets_of(prepared_, {.facts = compiled.facts,
                             .writable_text = writable_text,
                             .thread_rows = thread_rows,
                             .capture_handlers = capture_handlers(compiled.plan)});
  if (!targets.ok()) return fail_attach(targets.error());
  const DetourInput input = {.plan = compiled.plan,
                             .abis = compiled.abis,
                             .modules = prepared_.target.modules(),
                             .code_bytes = link_bytes(compiled.image),
                             .switched = compiled.patching.switched,
                             .samples = sample_calls(compiled.plan, compiled.layout)};
  SessionInput session = session_input(compiled);
  session.follows_execs = prepared_.target.follows_execs;
  Result<Session> created = Session::create(
      targets.take(), session,
      plan_detours(std::move(compiled.patches), input, prepared_.codes.file_cache()));
  if (!created.ok()) return fail_attach(created.error());
  session_.emplace(created.take());
  compiled.layout.header = session_->header();
  if (const Target* target = session_->target(); target != nullptr && stages_.dump.count("detours"))
    show_stage(stages_, "detours", target->dump_detours());
  prepared_.clock.done("place");
  const Status placed =
      stress_.is_on() ? ok_status() : check_placed(compiled, *session_, stages_.probes);
  if (placed.ok()) return std::nullopt;
  session_->abandon();
  return fail(kExitScript, "DJ3022", placed.error().message);
}

namespace {

void report_never_seen(const JoinedProcesses::NeverSeen& never) {
  const auto report = [](const std::vector<std::string>& names, const char* what) {
    for (const std::string& name : names)
      report_warning("DJ5916", fmt::format("no process of the session has {} {}: its probes were "
                                           "never reached",
                                           what, printable(name)));
  };
  report(never.programs, "executed");
  report(never.libraries, "mapped");
}

}  // namespace

// Of processes that have joined since the last call.
void SessionRun::name_stacks() {
  std::optional<StackTables>& stacks = prepared_.compiled.stacks;
  const Target* const target = session_->target();
  if (!stacks || target == nullptr) return;
  const Status named = stacks->name_elsewhere(session_->stack_room(*target));
  if (!named.ok()) report_undone(named.error().message);
}

std::optional<int> SessionRun::begin(const ReportChoices& report, const CommandLine& line) {
  const Compiled& compiled = prepared_.compiled;
  const FoundTarget& target = prepared_.target;
  host_probes_.emplace(*session_, compiled.plan, target.process ? target.pid() : 0);
  if (target.process) prepared_.target.names[target.pid()] = program_name(target.pid());
  Result<std::unique_ptr<Monitor>> shown =
      open_monitor(steering_.monitor, prepared_, *host_probes_);
  if (!shown.ok()) return fail_without(line, "--monitor", shown.error().message);
  monitor_ = shown.take();
  const RecordSink sink = sink_of(!report.output_path.empty(), prepared_.lua, monitor_, *output_);
  const DrainInput input = {compiled.program,    compiled.image,  compiled.plan,
                            prepared_.sources,   compiled.layout, sink,
                            host_probes_->told()};
  drain_.emplace(input, *output_);
  session_->before_host([this] { name_stacks(); });
  host_probes_->run_first();
  drain_->run(false);
  if (session_->words().errors() > 0) {  // what begin was to prepare is not there
    host_probes_->run_error();
    session_->abandon();
    drain_->run(true);
    output_->flush();
    return kExitRun;
  }
  if (report.times || report.calls) count_calls(compiled.layout);
  if (target.pid() == 0) return std::nullopt;
  Result<ExitWatch> watched = ExitWatch::create(target.pid(), target.is_child());
  if (!watched.ok()) return fail_attach(watched.error());
  watches_.exit.emplace(watched.take());
  return std::nullopt;
}

// The end of the command beside the kernel's probes means nothing for these.
TakenOut SessionRun::take_out() {
  static const std::optional<ExitWatch> kNone;
  const bool of_process = prepared_.target.process.has_value();
  return take_out_probes(*session_, of_process ? watches_.exit : kNone, stages_.verbose > 0);
}

int SessionRun::fail_command(const Error& error) {
  take_out();
  fail_attach(error);
  return command_exit_code(error);
}

int SessionRun::fail_arming(const Error& error) {
  const int exit_code = fail_attach(error);
  if (session_->is_in_text()) {
    take_out();
  } else {
    session_->abandon();
  }
  return exit_code;
}

// By which djtap knows the processes of the session.
uint64_t SessionRun::data_inode() const {
  return static_cast<const ProcessTarget*>(session_->target())->data().inode();
}

// From here on, who opens a library waits for djtap. Of the session's own processes djtap hears
// otherwise.
void SessionRun::watch_outsiders() {
  const FoundTarget& found = prepared_.target;
  if (!found.gate) return;
  const bool every = found.everywhere->every;
  found.gate->let_pass_if([data = data_inode(), every](const ExecGate::Visitor& who, int pid) {
    return (who.opens_library || every) && has_memory(pid, data);
  });
  if (every || found.everywhere->libraries.empty()) return;
  std::vector<std::string> paths, others;
  for (const auto& [number, path] : found.everywhere->libraries)
    (file_number(path) == number ? paths : others).push_back(path);
  const Status watched = found.gate->watch_libraries(paths);
  if (!watched.ok()) others = paths;
  if (!others.empty())
    report_warning("DJ5917",
                   fmt::format("processes that map {} later are not probed: {}",
                               printable(fmt::format("{}", fmt::join(others, ", "))),
                               watched.ok() ? "djtap finds another file at this path, or none"
                                            : watched.error().message));
}

std::optional<int> SessionRun::arm() {
  watch_outsiders();
  watches_.arming.emplace(prepared_.compiled, *session_);
  watches_.arming->look();
  FoundTarget& found = prepared_.target;
  watches_.jit = watch_made_code(found.process, prepared_.compiled, *session_);
  const Status armed = session_->arm();
  if (!armed.ok()) return fail_arming(armed.error());
  if (found.kernel && !stress_.is_on()) {  // whose module has the last word
    const Status placed = check_placed(prepared_.compiled, *session_, stages_.probes);
    if (!placed.ok()) {
      take_out();
      return fail(kExitScript, "DJ3022", placed.error().message);
    }
  }
  if (Target* const target = session_->target()) {
    const bool lists = stages_.probes || stages_.dump.count("probes") > 0;
    const bool is_alone = found.more_pids.empty() && !found.is_everywhere();
    const int pid = is_alone ? 0 : target->pid();
    report_arming(*target, prepared_.clock, lists, pid, !stress_.is_on());
  }
  if (found.command) {
    const Status started = run_untraced(*found.command);
    if (!started.ok()) return fail_command(started.error());
  }
  session_->keep();
  prepared_.codes.remember();
  return std::nullopt;
}

StressFacts SessionRun::stress_facts_now() const {
  if (!stress_.is_on()) return {};
  const bool all = stress_.pattern->empty() || *stress_.pattern == "*";
  const std::vector<MappedModule>& modules = prepared_.target.modules();
  return stress_facts(*session_, all && !modules.empty() ? modules.front().path : "");
}

std::string SessionRun::program_name(int pid) {
  const std::string path = program_path(pid);
  return printable(path.substr(path.rfind('/') + 1));
}

JoinedProcesses SessionRun::further_processes(FurtherPlans& plans) {
  raise_open_files();
  const FoundTarget& found = prepared_.target;
  const ProcessInput input =
      found.process ? static_cast<ProcessTarget*>(session_->target())->input_of_further()
                    : ProcessInput();
  return JoinedProcesses(plans, found.modules(), input, stages_.probes, [this](int pid) {
    prepared_.target.names[pid] = program_name(pid);
    host_probes_->run_joining(pid);
  });
}

void SessionRun::join_others(JoinedProcesses& joined, FollowedExecs* execs) {
  FoundTarget& found = prepared_.target;
  if (!found.process || stress_.is_on()) return;
  dj::join_others({found, joined, execs, outsiders().writable_text, data_inode()});
  if (!found.is_child() && !found.is_everywhere()) session_->target()->warn_of_unprobed();
}

// Takes in that processes begin, while they still are what they began as. The drain writes a record
// in the second round after the record was made, so there are two.
void SessionRun::hear_who_leaves() {
  if (!host_probes_->wants_ends()) return;
  drain_->run(false);
  drain_->run(false);
}

Outsiders SessionRun::outsiders() const {
  const FoundTarget& found = prepared_.target;
  const auto* first = static_cast<const ProcessTarget*>(session_->target());
  const MachineProcesses* meant = found.everywhere && !found.gate ? &*found.everywhere : nullptr;
  return {found.gate.get(), meant, found.trusted, first->input_of_further().writable_text};
}

void SessionRun::trace() {
  FurtherPlans plans(prepared_.compiled, prepared_.codes, *session_);
  JoinedProcesses joined = further_processes(plans);
  std::optional<FollowedExecs> execs;
  ExecGate* const gate = prepared_.target.gate.get();
  if (session_->header().follows_execs != 0 || gate != nullptr)
    execs.emplace(*session_, joined, data_inode(), outsiders(), [this] { hear_who_leaves(); });
  join_others(joined, execs ? &*execs : nullptr);
  DlopenWatch dlopened(stages_, !stress_.is_on(), prepared_.compiled, *session_, plans, joined);
  const Further further = {dlopened, joined, execs ? &*execs : nullptr};
  AddedProbes added(prepared_, *session_, *drain_, *host_probes_, plans, further);
  ending_.ended = dj::trace({prepared_, *session_, *drain_, *output_, monitor_.get(),
                             watches_.exit ? watches_.exit->fd() : -1, control_, *host_probes_,
                             *watches_.arming, watches_.jit.get(), further, added},
                            steering_);
  monitor_.reset();
  if (execs) report_never_seen(joined.never_seen());
  prepared_.codes.remember();  // of later objects
  ending_.facts = stress_facts_now();
  report_why_over(ending_.ended, *session_);
  prepared_.clock.done("run");
}

void SessionRun::restore() {
  monitor_.reset();
  ending_.taken = take_out();
}

// Whether error probes take the place of end probes. A short program may end before the loop has
// seen its last error.
bool SessionRun::is_by_errors() const {
  const Result<Ended>& ended = ending_.ended;
  const auto most = static_cast<uint64_t>(steering_.limits.max_errors);
  return (ended.ok() && ended.value() == Ended::TooManyErrors) ||
         (most > 0 && session_->words().errors() > most);
}

int SessionRun::report(const ReportChoices& report) {
  const Compiled& compiled = prepared_.compiled;
  host_probes_->run_last(ending_.taken.gone, is_by_errors(), *drain_);
  drain_->run(true);
  if (stress_.is_on()) {
    report_stress(ending_.facts, prepared_.clock, compiled.program, compiled.layout);
  } else {
    name_stacks();  // for outputs of Lua
    report_end(report, prepared_, *output_);
  }
  report_run(report, stages_.verbose > 0, prepared_, *session_, *output_);
  const bool failed = !ending_.ended.ok() || !ending_.taken.all || drain_->errors() > 0 ||
                      !prepared_.lua.diags().ok();
  return failed || output_->failed() ? kExitRun : kExitOk;
}

std::optional<int> SessionRun::exit_code_of_command(std::optional<HeldSignals>& held) {
  if (!prepared_.target.is_child()) return std::nullopt;
  held.reset();
  const std::optional<int> status = wait_for_command(*watches_.exit);
  return status ? child_exit_code(*status) : kExitOwnFailure;
}

}  // namespace dj
