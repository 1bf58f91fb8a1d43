// SPDX-License-Identifier: Apache-2.0
// Handlers placed, probes armed, events drained, probes taken out, globals reported: in this order.
#include "runtime/run/run_session.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "compiler/base/counted.h"
#include "compiler/stages/samples.h"
#include "runtime/output/drain.h"
#include "runtime/output/key_input.h"
#include "runtime/output/progress.h"
#include "runtime/output/report_calls.h"
#include "runtime/output/report_globals.h"
#include "runtime/output/report_times.h"
#include "runtime/output/tell.h"
#include "runtime/output/terminal.h"
#include "runtime/process/exec_watch.h"
#include "runtime/process/exit_watch.h"
#include "runtime/process/own_tracee.h"
#include "runtime/run/arming.h"
#include "runtime/run/debug_servers.h"
#include "runtime/run/host_probes.h"
#include "runtime/run/later_objects.h"
#include "runtime/run/say.h"
#include "runtime/session/control_commands.h"
#include "runtime/session/control_socket.h"
#include "runtime/session/doorbell.h"
#include "runtime/session/jit_watch.h"
#include "runtime/session/losses.h"
#include "runtime/session/monitor.h"
#include "runtime/session/report.h"
#include "runtime/session/stress.h"
#include "runtime/target/process/process_target.h"
#include "runtime/target/report_sites.h"

namespace dj {
namespace {

// Who takes what handlers print; null: it is written as text. `monitor` may become null.
RecordSink sink_of(const Options& options, LuaOutputs& lua, std::unique_ptr<Monitor>& monitor,
                   Output& output) {
  if (lua.takes_records()) return [&](const PrintRecord& record) { lua.record(record, output); };
  if (!monitor || !options.output_path.empty()) return nullptr;
  return [&](const PrintRecord& record) {
    if (monitor) return monitor->add_output(record.text);
    output.write(record.text);
  };
}

// Tracing: all that has a part in it while the target runs.
struct Tracing {
  const Options& options;
  Compiled& compiled;
  Session& session;
  ModuleCodes& codes;
  Drain& drain;
  Output& output;
  const LuaOutputs& lua;
  Monitor* monitor;  // null: none
  const std::optional<TracedProcess>& process;
  int pidfd;  // -1: there is no target
  std::optional<ControlSocket>& control;
  ArmingWatch& arming;
  HostProbes& host_probes;
  JitWatch* jit;  // null: no handler names code
};

// Of timer probes.
void add_timers(const Tracing& tracing, LoopActions& actions) {
  Session& session = tracing.session;
  const Plan& plan = tracing.compiled.plan;
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    const HostProbe& probe = plan.host_probes[i];
    if (probe.when != HostProbe::When::Timer) continue;
    std::function<void()> fire = [&session, &probe, &arming = tracing.arming] {
      if (session.words().exit_requested()) return;
      session.run_host(probe.handler);
      arming.look();
    };
    if (is_sample(plan, probe)) fire = [&session, i] { session.sample(i); };
    actions.timers.push_back({probe.interval_ns, probe.random_ns, std::move(fire)});
  }
}

// What ends it. time_is_up: set when it is.
void add_ends(const Tracing& tracing, bool& time_is_up, LoopActions& actions) {
  if (tracing.options.seconds) {
    const auto ns = static_cast<uint64_t>(*tracing.options.seconds * 1e9);
    const auto end = [&time_is_up] { time_is_up = true; };
    actions.timers.push_back({std::max<uint64_t>(ns, 1), 0, end});  // 0 would be never
  }
  actions.exit_requested = [&tracing, &time_is_up] {
    return time_is_up || (tracing.monitor != nullptr && tracing.monitor->quit()) ||
           tracing.session.words().exit_requested() || !tracing.session.why_over().empty();
  };
  const auto max_errors = static_cast<uint64_t>(tracing.options.limits.max_errors);
  actions.too_many_errors = [&tracing, max_errors] {
    return !tracing.lua.diags().ok() || (max_errors > 0 && tracing.drain.errors() > max_errors);
  };
  actions.output_closed = [&tracing] { return tracing.output.closed(); };
}

// The session's middle: the target runs, events become text.
Result<Ended> trace(const Tracing& tracing) {
  Session& session = tracing.session;
  const std::optional<TracedProcess>& process = tracing.process;
  LaterWatch later(tracing.options, tracing.compiled, session, tracing.codes);
  if (process && !process->is_child) later.look();
  LoopActions actions;
  actions.pidfd = tracing.pidfd;
  std::optional<Doorbell> bell;
  if (later.is_on()) {
    bell.emplace(session.words().loader_bell());
    actions.is_often = bell->fd() < 0;
    actions.bell_fd = bell->fd();
    actions.bell = [&bell] { bell->answer(); };
  }
  if (std::optional<ControlSocket>& control = tracing.control) {
    actions.control_fd = control->fd();
    actions.control = [&] {
      control->serve([&](const std::string& line) { return run_control_command(session, line); });
    };
  }
  ExecWatch exec(process ? process->pid : getpid());
  add_timers(tracing, actions);
  std::optional<KeyInput> input;
  if (tracing.host_probes.wants_input()) input.emplace();
  LossWatch losses(
      {session.words(), tracing.compiled.program, tracing.compiled.plan, tracing.compiled.layout});
  actions.drain = [&] {
    std::string program = exec.poll();
    if (!program.empty())
      tell_warning("DJ5901", fmt::format("the target executed {}: probes do not follow", program));
    if (later.poll()) tracing.arming.look();
    if (tracing.jit != nullptr) tracing.jit->look();
    session.poll();
    if (tracing.monitor != nullptr) tracing.monitor->run(session);
    losses.look();
    if (input) tracing.host_probes.run_input(*input, tracing.arming);
    const size_t events = tracing.drain.run(false);
    tracing.host_probes.run_child_ends(tracing.drain);
    return events;
  };
  actions.stopped = [&](bool now) { session.let_wait(!now); };
  bool time_is_up = false;
  add_ends(tracing, time_is_up, actions);
  return run_loop(actions);
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

// The globals, by whoever shows them. Where a Lua file has failed they are not lost: all are
// written.
void report_end(const Options& options, const Compiled& compiled, LuaOutputs& lua, Output& output) {
  if (options.stress) return;
  lua.flush(output);
  if (!lua.takes_globals() && !options.show_globals) return;
  if (!lua.takes_globals() && lua.diags().ok())
    return report_globals(unread_globals(compiled.program, compiled.layout), options.format,
                          output);
  const std::vector<GlobalValue> all =
      read_globals(compiled.program, compiled.shown_globals, compiled.layout);
  const StackNamer namer = [&](std::string_view stack) {
    return stack_names(compiled.layout.header, stack);
  };
  if (lua.takes_globals()) lua.end(all, namer, output);
  if (!lua.diags().ok()) report_globals(all, options.format, output);
}

// What stderr has to say when all is over.
void report_run(const Options& options, const Sources& sources, const Compiled& compiled,
                Session& session, const LuaOutputs& lua, Output& output) {
  tell_late_debug_files();
  output.flush();
  Target* const target = session.target();
  if (target != nullptr) target->report_misread_tables();
  report_losses({session.words(), compiled.program, compiled.plan, compiled.layout});
  if (options.times) report_times(compiled.times, compiled.program, sources, compiled.layout);
  if (options.times || options.calls) {
    report_calls(compiled.program, compiled.plan, sources, compiled.layout);
  }
  if (options.verbose > 0 && target != nullptr) {
    report_unusual_sites(target->sites());
    const ArmReport arming = target->report();
    if (arming.samples)
      log_line("djtap: {} taken, {} left out", counted(arming.samples_taken, "sample"),
               arming.samples_left_out);
  }
  print_diags(lua.diags(), sources, options);
  if (output.closed()) tell_error("DJ5012", fmt::format("output ended early: {}", output.error()));
}

// Whether error probes take the place of end probes. A short program may end before the loop has
// seen its last error.
bool is_by_errors(const Result<Ended>& ended, const Options& options, const Session& session) {
  const auto most = static_cast<uint64_t>(options.limits.max_errors);
  return (ended.ok() && ended.value() == Ended::TooManyErrors) ||
         (most > 0 && session.words().errors() > most);
}

void say_why_over(const Result<Ended>& ended, Session& session) {
  if (!ended.ok()) tell_error("DJ5013", ended.error().message);
  const std::string over = session.why_over();
  if (!over.empty()) tell_warning("DJ5902", fmt::format("the session ends: {}", over));
}

struct TakenOut {
  bool gone = false;  // the target is
  bool all = true;    // nothing was left in anybody
};

// The target has ended by itself: a daemon, for one, goes on in what it has forked.
void warn_of_survivors(const ForksLeft& forks) {
  if (forks.living == 0) return;
  tell_warning("DJ5911", fmt::format("the session ends with the program, but {} that it has forked "
                                     "go on, without probes: {}; attach to one with -p",
                                     counted(forks.living, "process"), forks.names));
}

// Out of the target if it still runs, and of what it has forked, which may live on.
TakenOut take_out_probes(const Options& options, Session& session,
                         const std::optional<TracedProcess>& process,
                         const std::optional<ExitWatch>& watch) {
  constexpr int kEndingMs = 200;  // a process on its way out has no memory before it has ended
  TakenOut taken = {watch && watch->ended()};
  if (watch && !taken.gone) {
    Status disarmed = session.restore();
    taken.all = disarmed.ok() || watch->ended(kEndingMs);
    if (!taken.all)
      tell_error("DJ5014", fmt::format("probes not removed: {}; do it later with: djtap clean {}",
                                       disarmed.error().message, process->pid));
  }
  const ForksLeft forks = session.restore_forks();
  if (options.verbose > 0 && forks.count > 0)
    log_line("djtap: probes removed from {}", counted(forks.count, "forked process"));
  if (taken.gone) warn_of_survivors(forks);
  for (const std::string& failure : forks.failures)
    tell_error("DJ5014", fmt::format("probes not removed from a forked process: {}", failure));
  taken.all = taken.all && forks.failures.empty();
  return taken;
}

// Puts the probes into the target, which runs then; leaves what was found to later sessions.
Status arm(const Options& options, Session& session, ModuleCodes& codes, StageClock& clock) {
  DJ_TRY_DO(session.arm());
  if (Target* const target = session.target()) {
    report_arming(*target, clock, options.probes || options.dump.count("probes"), !options.stress);
    if (options.pid && !options.stress) target->warn_of_unprobed();
  }
  session.keep();
  codes.remember();
  return ok_status();
}

int fail_arming(const Error& error, const Options& options, Session& session,
                const std::optional<TracedProcess>& process,
                const std::optional<ExitWatch>& watch) {
  const int exit_code = fail_attach(error);
  if (session.is_in_text()) {
    take_out_probes(options, session, process, watch);
  } else {
    session.abandon();
  }
  return exit_code;
}

// The process, if there is one.
Targets targets_of(const Options& options, std::optional<TracedProcess>& process,
                   ModuleCodes& codes, const Compiled& compiled) {
  Targets targets;
  if (!process) return targets;
  targets.push_back(std::make_unique<ProcessTarget>(
      *process, codes,
      ProcessInput{.facts = compiled.facts,
                   .writable_text = options.writable_text,
                   .thread_rows = options.thread_rows,
                   .capture_handlers = capture_handlers(compiled.plan)}));
  return targets;
}

// Behind it, compiled.layout.header has all that only the session knows.
Result<Session> create_session(const Options& options, std::optional<TracedProcess>& process,
                               ModuleCodes& codes, Compiled& compiled) {
  const DetourInput input = {.plan = compiled.plan,
                             .abis = compiled.abis,
                             .modules = process ? process->modules : std::vector<MappedModule>(),
                             .code_bytes = link_bytes(compiled.image),
                             .switched = patch_options(options, compiled).switched,
                             .samples = sample_calls(compiled.plan, compiled.layout)};
  Result<Session> session =
      Session::create(targets_of(options, process, codes, compiled), session_input(compiled),
                      plan_detours(std::move(compiled.patches), input, codes.kept_files()));
  if (!session.ok()) return session;
  compiled.layout.header = session.value().header();
  if (const Target* target = session.value().target();
      target != nullptr && options.dump.count("detours"))
    show_stage(options, "detours", target->dump_detours());
  return session;
}

// Fails when there is no place at all where a probe can be, and none may come; says why. What is
// refused only when the target is probed (masks of running threads ...) is a warning.
Status check_placed(const Options& options, const Compiled& compiled, const Session& session) {
  const Target* const target = session.target();
  if (target == nullptr || options.stress || compiled.plan.expects_objects) return ok_status();
  if (target->can_be_hit()) return ok_status();
  const std::vector<InstalledSite> skipped = target->skipped_sites();
  const size_t places = skipped.size();
  if (places == 0) return ok_status();
  for (const Probe& probe : compiled.program.probes) {
    if (std::any_of(probe.points.begin(), probe.points.end(),
                    [](const ast::ProbePoint& point) { return point.optional; }))
      return ok_status();
  }
  if (options.probes) report_sites(skipped);
  warn_skipped_sites(skipped);
  return Error{places == 1
                   ? "the one place that is meant cannot be probed"
                   : fmt::format("none of the {} places that are meant can be probed", places)};
}

// What --stress tells; empty without it.
StressFacts facts_for(const Options& options, const Session& session,
                      const std::optional<TracedProcess>& process) {
  if (!options.stress) return {};
  const bool all = options.stress->empty() || *options.stress == "*";
  return stress_facts(session, process && all ? process->modules.front().path : "");
}

// Null: none is asked for.
Result<std::optional<ControlSocket>> open_control(const Options& options) {
  if (options.control_path.empty()) return std::optional<ControlSocket>();
  DJ_TRY(ControlSocket socket, ControlSocket::listen(options.control_path));
  return std::optional<ControlSocket>(std::move(socket));
}

// The same.
Result<std::unique_ptr<Monitor>> open_monitor(const Options& options, const Sources& sources,
                                              const Compiled& compiled,
                                              const HostProbes& host_probes) {
  if (!options.monitor) return std::unique_ptr<Monitor>();
  if (host_probes.wants_input()) return Error{"--monitor and input probes want the same keys"};
  return Monitor::open({compiled.program, compiled.plan, sources, compiled.layout, compiled.times,
                        compiled.shown_globals});
}

// Null: there is no target.
Result<std::optional<ExitWatch>> watch_exit(const std::optional<TracedProcess>& process) {
  if (!process) return std::optional<ExitWatch>();
  DJ_TRY(ExitWatch watch, ExitWatch::create(process->pid, process->is_child));
  return std::optional<ExitWatch>(std::move(watch));
}

// Null: no handler names code.
std::unique_ptr<JitWatch> watch_made_code(const std::optional<TracedProcess>& process,
                                          Compiled& compiled, const Session& session) {
  if (!process || !compiled.stacks) return nullptr;
  auto* tables = reinterpret_cast<uint8_t*>(session.header().stack_tables);
  auto watch = std::make_unique<JitWatch>(process->pid, *compiled.stacks,
                                          std::span(tables, compiled.stacks->room()));
  watch->look();
  return watch;
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

int exit_code_of_command(ExitWatch& watch, std::optional<HeldSignals>& held) {
  held.reset();  // Ctrl-C may end the wait
  std::optional<int> status = wait_for_command(watch);
  return status ? child_exit_code(*status) : kExitOwnFailure;
}

}  // namespace

int run_session(const Options& options, const Sources& sources, LuaOutputs& lua, Compiled& compiled,
                std::optional<TracedProcess>& process, ModuleCodes& codes, StageClock& clock,
                std::optional<HeldSignals>& held) {
  outlive_readers();
  Result<Output> opened = Output::open(options.output_path, options.rotation);
  if (!opened.ok()) return fail_without(options, "-o", opened.error().message);
  Output output = opened.take();
  Result<std::optional<ControlSocket>> listening = open_control(options);
  if (!listening.ok()) return fail_without(options, "--control", listening.error().message);
  std::optional<ControlSocket> control = listening.take();
  Result<Session> created = create_session(options, process, codes, compiled);
  if (!created.ok()) return fail_attach(created.error());
  Session session = created.take();
  clock.done("place");
  if (Status placed = check_placed(options, compiled, session); !placed.ok())
    return session.abandon(), fail(kExitScript, "DJ3022", placed.error().message);
  // From here on, handlers exist; a launched target still stands.

  HostProbes host_probes(session, compiled.plan, process);
  Result<std::unique_ptr<Monitor>> shown = open_monitor(options, sources, compiled, host_probes);
  if (!shown.ok()) return fail_without(options, "--monitor", shown.error().message);
  std::unique_ptr<Monitor> monitor = shown.take();
  RecordSink sink = sink_of(options, lua, monitor, output);
  Drain drain({compiled.program, compiled.image, compiled.plan, sources, compiled.layout, sink,
               host_probes.told()},
              output);
  host_probes.run_first();
  drain.run(false);
  if (session.words().errors() > 0) {  // what begin was to prepare is not there
    host_probes.run_error();
    return session.abandon(), drain.run(true), output.flush(), kExitRun;
  }
  Result<std::optional<ExitWatch>> watched = watch_exit(process);
  if (!watched.ok()) return fail_attach(watched.error());
  std::optional<ExitWatch> watch = watched.take();
  if (options.times || options.calls) count_calls(compiled.layout);
  Result<Ended> ended = Ended::TargetExited;
  StressFacts facts;
  try {
    ArmingWatch arming(compiled, session);
    arming.look();
    const std::unique_ptr<JitWatch> jit = watch_made_code(process, compiled, session);
    Status armed = arm(options, session, codes, clock);
    if (!armed.ok()) return fail_arming(armed.error(), options, session, process, watch);
    // From here on, the target runs, probed and untraced.

    ended = trace({options, compiled, session, codes, drain, output, lua, monitor.get(), process,
                   watch ? watch->fd() : -1, control, arming, host_probes, jit.get()});
    monitor.reset();
    codes.remember();  // of later objects
    facts = facts_for(options, session, process);
    say_why_over(ended, session);
  } catch (const std::bad_alloc&) {
    monitor.reset();
    take_out_probes(options, session, process, watch);  // main() says why
    throw;
  }
  clock.done("run");
  const TakenOut taken = take_out_probes(options, session, process, watch);
  // From here on, no handler runs in the target any more.

  host_probes.run_last(taken.gone, is_by_errors(ended, options, session), drain);
  drain.run(true);
  report_end(options, compiled, lua, output);
  if (options.stress) report_stress(facts, clock, compiled.program, compiled.layout);
  report_run(options, sources, compiled, session, lua, output);
  if (process && process->is_child) return exit_code_of_command(*watch, held);
  const bool failed = !ended.ok() || !taken.all || drain.errors() > 0 || !lua.diags().ok();
  return failed || output.failed() ? kExitRun : kExitOk;
}

}  // namespace dj
