// djtap, the map: what happens, in order. Each step is one call; between them stands what is true
// from there on.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/check/check.h"
#include "compiler/check/dump_program.h"
#include "compiler/check/time_probes.h"
#include "compiler/debuginfo/call_frames.h"
#include "compiler/debuginfo/text.h"
#include "compiler/explain.h"
#include "compiler/image.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/print_ast.h"
#include "compiler/resolve/listing.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stack_info.h"
#include "compiler/tapset/aliases.h"
#include "compiler/tapset/latency.h"
#include "compiler/tapset/library.h"
#include "runtime/control/clean.h"
#include "runtime/control/control_commands.h"
#include "runtime/control/control_socket.h"
#include "runtime/control/coverage.h"
#include "runtime/control/drain.h"
#include "runtime/control/dry_run.h"
#include "runtime/control/exec_watch.h"
#include "runtime/control/hooks.h"
#include "runtime/control/loop.h"
#include "runtime/control/monitor.h"
#include "runtime/control/options.h"
#include "runtime/control/report.h"
#include "runtime/control/report_globals.h"
#include "runtime/control/report_times.h"
#include "runtime/control/session.h"
#include "runtime/control/stack_tables.h"
#include "runtime/control/stage_clock.h"
#include "runtime/control/stress.h"
#include "runtime/lua/lua_outputs.h"

namespace dj {
namespace {

int exit_code_for(const Options& options, int own) {
  return options.command.empty() ? own : kExitOwnFailure;
}

int fail(const Options& options, int own, const std::string& message) {
  fmt::print(stderr, "djtap: {}\n", message);
  return exit_code_for(options, own);
}

// The end of a command that only has something to show.
int print_result(const Options& options, int own_code, const Result<std::string>& text) {
  if (!text.ok()) return fail(options, own_code, text.error().message);
  fmt::print("{}", text.value());
  return kExitOk;
}

void print_diags(const Diags& diags, const Sources& sources, const Options& options) {
  bool colour = isatty(STDERR_FILENO);
  for (const Diag& diag : diags.all()) {
    std::string text =
        options.json_diagnostics ? render_json(diag, sources) : render(diag, sources, colour);
    fmt::print(stderr, "{}", text);
  }
}

Result<std::string> read_script(const Options& options) {
  if (options.script_text) return *options.script_text;
  std::ifstream file(options.script_path, std::ios::binary);
  if (!file)
    return Error{
        fmt::format("cannot read script {}: {}", options.script_path, std::strerror(errno))};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void dump(const Options& options, const char* stage, const std::string& text) {
  if (options.dump.count(stage)) fmt::print("{}", text);
}

// The target as the command line names it; null when there is none.
Result<std::optional<TracedProcess>> find_target(const Options& options,
                                                 const sigset_t& child_mask) {
  if (!options.command.empty()) {
    DJ_TRY(TracedProcess process, TracedProcess::launch(options.command, child_mask));
    return std::optional<TracedProcess>(std::move(process));
  }
  if (options.pid) {
    DJ_TRY(TracedProcess process, TracedProcess::open(*options.pid));
    return std::optional<TracedProcess>(std::move(process));
  }
  return std::optional<TracedProcess>();
}

int target_failure(const Options& options, const Error& error) {
  if (!options.command.empty() && error.kind == Fail::NotFound) {
    fmt::print(stderr, "djtap: {}\n", error.message);
    return kExitNotFound;
  }
  if (!options.command.empty() &&
      (error.kind == Fail::Permission || error.kind == Fail::Unsupported)) {
    fmt::print(stderr, "djtap: {}\n", error.message);
    return kExitNotExecutable;
  }
  return fail(options, kExitAttach, error.message);
}

TargetFiles target_files(const std::optional<TracedProcess>& process) {
  TargetFiles files;
  files.has_target = process.has_value();
  if (!process) return files;
  files.modules = process->module_paths();
  for (const MappedModule& module : process->modules) {
    auto found = std::find(files.modules.begin(), files.modules.end(), module.path);
    if (module.is_vdso || found == files.modules.end()) continue;
    size_t index = static_cast<size_t>(found - files.modules.begin());
    files.mapped.push_back({index, module.begin, module.end, module.bias});
  }
  return files;
}

// -l and -L: no handler is made, the target is not touched.
int list_points(const Options& options) {
  Sources sources;
  uint32_t file = sources.add("<command line>", "probe " + *options.list + " {}");
  Diags diags;
  ast::Script script = parse(sources, file, {}, diags);
  Result<std::optional<TracedProcess>> process = find_target(options, HeldSignals().before());
  if (!process.ok()) return target_failure(options, process.error());
  std::string text;
  if (diags.ok())
    text = list(script.probes.front().points, target_files(process.value()), options.list_variables,
                diags);
  fmt::print("{}", text);
  print_diags(diags, sources, options);
  return diags.ok() ? kExitOk : exit_code_for(options, kExitScript);
}

// All that is known once the script is compiled, in the order in which it came to be.
struct Compiled {
  Program program;
  std::vector<GlobalId> times;  // with -t, by ProbeId
  Plan plan;
  Layout layout;
  Image image;
  std::vector<HandlerAbi> abis;
  bool use_rseq = true;
  std::vector<uint8_t> stack_tables;  // empty: no handler walks stacks
};

SessionInput session_input(const Options& options, const Compiled& compiled) {
  return {compiled.program,  compiled.plan,         compiled.image,
          compiled.abis,     compiled.layout,       options.optimize,
          compiled.use_rseq, compiled.stack_tables, options.live};
}

// Plan to code, for this target.
Status compile_for(const Options& options, std::optional<TracedProcess>& process,
                   ModuleCodes& codes, Compiled& compiled, StageClock& clock) {
  if (process) {
    DJ_TRY_DO(process->find_rseq());
    std::string why;
    compiled.use_rseq = can_trust_rseq(process->rseq_registered, process->modules, codes, &why);
    clock.done("rseq", compiled.use_rseq ? "" : why);
  }
  uint32_t cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  if (process && walks_stack(compiled.program)) {
    auto frames = static_cast<uint32_t>(options.limits.max_backtrace);
    compiled.stack_tables = make_stack_tables(process->modules, read_stack_info, frames);
    clock.done("stacks", fmt::format("{} kB of tables", compiled.stack_tables.size() >> 10));
  }
  auto lay = [&](uint64_t base) {
    return lay_out(compiled.program, compiled.plan, options.limits, cpus, base,
                   compiled.stack_tables.size());
  };
  DJ_TRY(uint64_t base, find_arena_base(process ? &*process : nullptr, lay(kNominalBase).bytes));
  compiled.layout = lay(base);
  // From here on, every global has its address.

  EmitOptions emit;
  emit.abi.has_rseq = compiled.use_rseq;
  emit.want_ir = options.dump.count("ir") > 0;
  emit.want_assembly = options.dump.count("asm") > 0;
  DJ_TRY(compiled.image,
         lower(compiled.program, compiled.plan, compiled.layout, emit, compiled.abis));
  dump(options, "ir", compiled.image.ir);
  dump(options, "asm", compiled.image.assembly);
  clock.done("lower", fmt::format("{} handlers", compiled.plan.handlers.size()));
  return ok_status();
}

void run_host_probes(Session& session, const Plan& plan, HostProbe::When when) {
  for (const HostProbe& probe : plan.host_probes) {
    if (probe.when == when) session.run_host(probe.handler);
  }
}

// Before the target runs on.
void run_first_probes(Session& session, const Plan& plan, bool has_target) {
  run_host_probes(session, plan, HostProbe::When::Begin);
  if (has_target) run_host_probes(session, plan, HostProbe::When::ProcessBegin);
  for (const HostProbe& probe : plan.host_probes) {
    if (probe.when != HostProbe::When::Oneshot) continue;
    session.run_host(probe.handler);
    session.header().exit_requested = 1;
  }
}

// When no handler runs in the target any more.
void run_last_probes(Session& session, const Plan& plan, bool target_gone, bool by_errors) {
  if (target_gone) run_host_probes(session, plan, HostProbe::When::ProcessEnd);
  run_host_probes(session, plan, by_errors ? HostProbe::When::Error : HostProbe::When::End);
}

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

// The session's middle: the target runs, events become text.
Result<Ended> trace(const Options& options, const Compiled& compiled, Session& session,
                    Drain& drain, Output& output, const LuaOutputs& lua, Monitor* monitor,
                    const std::optional<TracedProcess>& process, int pidfd,
                    std::optional<ControlSocket>& control) {
  LoopActions actions;
  actions.pidfd = pidfd;
  if (control) {
    actions.control_fd = control->fd();
    actions.control = [&] {
      control->serve([&](const std::string& line) { return run_control_command(session, line); });
    };
  }
  ExecWatch exec(process ? process->pid : getpid());
  for (const HostProbe& probe : compiled.plan.host_probes) {
    if (probe.when != HostProbe::When::Timer) continue;
    actions.timers.push_back({probe.interval_ns, probe.random_ns,
                              [&session, &probe] { session.run_host(probe.handler); }});
  }
  actions.drain = [&] {
    std::string program = exec.poll();
    if (!program.empty())
      fmt::print(stderr, "WARNING: the target executed {}: probes do not follow\n", program);
    session.watch_guards();
    if (monitor != nullptr) monitor->run(session);
    return drain.run(false);
  };
  bool time_is_up = false;
  auto end = [&] { time_is_up = true; };
  if (options.seconds)
    actions.timers.push_back({static_cast<uint64_t>(*options.seconds * 1e9), 0, end});
  actions.exit_requested = [&] {
    return time_is_up || (monitor != nullptr && monitor->quit()) ||
           session.header().exit_requested != 0;
  };
  uint64_t max_errors = static_cast<uint64_t>(options.limits.max_errors);
  actions.too_many_errors = [&drain, &lua, max_errors] {
    return !lua.diags().ok() || (max_errors > 0 && drain.errors() > max_errors);
  };
  actions.output_closed = [&output] { return output.closed(); };
  return run_loop(actions);
}

int child_exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The globals, by whoever shows them.
void report_end(const Options& options, const Compiled& compiled, LuaOutputs& lua, Output& output) {
  if (options.stress) return;
  if (!lua.takes_globals())
    return report_globals(compiled.program, compiled.layout, options.format, output);
  size_t shown = compiled.program.globals.size() - compiled.times.size();
  lua.end(read_globals(compiled.program, shown, compiled.layout), output);
}

// What stderr has to say when all is over.
void report_run(const Options& options, const Sources& sources, const Compiled& compiled,
                Session& session, const LuaOutputs& lua, Output& output) {
  output.flush();
  report_skips(session.header());
  if (options.times) report_times(compiled.times, compiled.program, sources, compiled.layout);
  if (options.verbose > 0 && session.installation() != nullptr)
    report_unusual_sites(session.installation()->sites());
  print_diags(lua.diags(), sources, options);
  if (output.closed()) fmt::print(stderr, "djtap: output ended early: {}\n", output.error());
}

// Out of the target if it still runs, and of what it has forked, which may live on. Returns whether
// the target is gone.
bool take_out_probes(const Options& options, Session& session,
                     const std::optional<TracedProcess>& process,
                     const std::optional<ExitWatch>& watch) {
  bool gone = watch && watch->ended();
  if (watch && !gone) {
    Status disarmed = session.disarm();
    if (!disarmed.ok() && !watch->ended())
      fmt::print(stderr, "djtap: probes not removed: {}; do it later with: djtap clean {}\n",
                 disarmed.error().message, process->pid);
  }
  std::vector<std::string> failures;
  size_t cleaned = session.clean_forked(failures);
  if (options.verbose > 0 && cleaned > 0)
    fmt::print(stderr, "djtap: probes removed from {} forked processes\n", cleaned);
  for (const std::string& failure : failures)
    fmt::print(stderr, "djtap: probes not removed from a forked process: {}\n", failure);
  return gone;
}

// From compiled code to the end of the session. Returns the exit code.
int run_session(const Options& options, const Sources& sources, LuaOutputs& lua, Compiled& compiled,
                std::optional<TracedProcess>& process, ModuleCodes& codes, StageClock& clock,
                std::optional<HeldSignals>& held) {
  Result<Output> opened = Output::open(options.output_path, options.rotation);
  if (!opened.ok()) return fail(options, kExitUsage, opened.error().message);
  Output output = opened.take();
  std::optional<ControlSocket> control;
  if (!options.control_path.empty()) {
    Result<ControlSocket> made = ControlSocket::listen(options.control_path);
    if (!made.ok()) return fail(options, kExitUsage, made.error().message);
    control.emplace(made.take());
  }
  SessionInput input = session_input(options, compiled);
  Result<Session> created = Session::create(process ? &*process : nullptr, codes, input);
  if (!created.ok()) return fail(options, kExitAttach, created.error().message);
  Session session = created.take();
  clock.done("place");
  // From here on, handlers exist; a launched target still stands.

  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Monitor> monitor;
  if (options.monitor) {
    Result<std::unique_ptr<Monitor>> made =
        Monitor::open({compiled.program, compiled.plan, sources, compiled.layout, compiled.times});
    if (!made.ok()) return fail(options, kExitUsage, made.error().message);
    monitor = made.take();
  }
  RecordSink sink = sink_of(options, lua, monitor, output);
  Drain drain({compiled.program, compiled.image, compiled.plan, sources, compiled.layout, sink},
              output);
  run_first_probes(session, compiled.plan, process.has_value());
  drain.run(false);
  if (session.header().error_count > 0)  // what begin was to prepare is not there: nothing is armed
    return drain.run(true), output.flush(), kExitRun;
  std::optional<ExitWatch> watch;
  if (process) {
    Result<ExitWatch> made = ExitWatch::create(process->pid, process->is_child);
    if (!made.ok()) return fail(options, kExitAttach, made.error().message);
    watch.emplace(made.take());
  }
  Status armed = session.arm();
  if (!armed.ok()) return fail(options, kExitAttach, armed.error().message);
  if (session.installation() != nullptr)
    report_arming(session, clock, options.probes || options.dump.count("probes"), !options.stress);
  StressFacts facts = options.stress ? stress_facts(session) : StressFacts();
  codes.remember();
  // From here on, the target runs, probed and untraced.

  Result<Ended> ended = trace(options, compiled, session, drain, output, lua, monitor.get(),
                              process, watch ? watch->fd() : -1, control);
  monitor.reset();
  if (!ended.ok()) fmt::print(stderr, "djtap: {}\n", ended.error().message);
  clock.done("run");
  bool gone = take_out_probes(options, session, process, watch);
  // From here on, no handler runs in the target any more.

  bool by_errors = ended.ok() && ended.value() == Ended::TooManyErrors;
  run_last_probes(session, compiled.plan, gone, by_errors);
  drain.run(true);
  report_end(options, compiled, lua, output);
  if (options.stress) report_stress(facts, clock, compiled.layout);
  report_run(options, sources, compiled, session, lua, output);
  if (process && process->is_child) {
    held.reset();  // Ctrl-C may end the wait
    std::optional<int> status = watch->wait_status(-1);
    return status ? child_exit_code(*status) : kExitOwnFailure;
  }
  return drain.errors() > 0 || !lua.diags().ok() ? kExitRun : kExitOk;
}

// --fmt
int print_tidy(const Options& options, const Sources& sources, uint32_t file, Diags& diags) {
  std::string text = tidy(sources, file, diags);
  if (diags.ok()) fmt::print("{}", text);
  print_diags(diags, sources, options);
  return diags.ok() ? kExitOk : kExitSyntax;
}

int print_dry_run(const Options& options, const Compiled& compiled,
                  std::optional<TracedProcess>& process, ModuleCodes& codes) {
  SessionInput input = session_input(options, compiled);
  return print_result(options, kExitAttach, dry_run(process ? &*process : nullptr, codes, input));
}

// A script, from its text to the end of its session.
int run_script(const Options& options) {
  std::optional<HeldSignals> held(std::in_place);
  StageClock clock(options.verbose > 0);
  Result<std::string> text = read_script(options);
  if (!text.ok()) return fail(options, kExitUsage, text.error().message);
  Sources sources;
  Diags diags;
  uint32_t file =
      sources.add(options.script_text ? "<command line>" : options.script_path, text.take());
  if (options.dump.count("tokens"))
    dump(options, "tokens", dump_tokens(sources, file, {options.script_args}));

  if (options.tidy) return print_tidy(options, sources, file, diags);
  TapsetLibrary library(sources, tapset_folders(options.include));
  ParseOptions parsing{options.script_args,
                       [&](const std::string& macro) { return library.macro_file(macro); }};
  ast::Script script = parse(sources, file, parsing, diags);
  clock.done("parse");
  if (!diags.ok()) return print_diags(diags, sources, options), exit_code_for(options, kExitSyntax);
  if (options.dump.count("ast")) dump(options, "ast", print(script));
  if (options.stop_after == Stage::Parse) return print_diags(diags, sources, options), kExitOk;
  // From here on, the script is a tree; no ANTLR type is in sight.

  library.complete(script, diags);
  clock.done("tapsets", fmt::format("{} files", library.files_read()));
  if (diags.ok()) expand_aliases(script, diags);
  if (diags.ok()) expand_latency(script, sources, diags);
  if (!diags.ok()) return print_diags(diags, sources, options), exit_code_for(options, kExitScript);
  // From here on, no probe point is an alias.

  Compiled compiled;
  compiled.program = check(script, {options.strict}, diags);
  clock.done("check");
  if (!diags.ok()) return print_diags(diags, sources, options), exit_code_for(options, kExitScript);
  if (options.dump.count("program")) dump(options, "program", dj::dump(compiled.program));
  if (options.times) compiled.times = time_probes(compiled.program);
  if (options.stop_after == Stage::Check) return print_diags(diags, sources, options), kExitOk;
  // From here on, every name is an id and every expression has a type.

  LuaOutputs lua;
  Status loaded = lua.load(options.plugin, options.report_path, sources);
  if (!loaded.ok()) return fail(options, kExitUsage, loaded.error().message);
  if (!lua.diags().ok())
    return print_diags(lua.diags(), sources, options), exit_code_for(options, kExitSyntax);
  Result<std::optional<TracedProcess>> found = find_target(options, held->before());
  if (!found.ok()) return target_failure(options, found.error());
  std::optional<TracedProcess> process = found.take();
  clock.done(
      "target",
      process ? fmt::format("pid {}, {} modules", process->pid, process->modules.size()) : "none");
  compiled.plan = resolve(compiled.program, target_files(process), diags);
  clock.done("resolve", fmt::format("{} sites", compiled.plan.sites.size()));
  print_diags(diags, sources, options);
  if (!diags.ok()) return exit_code_for(options, kExitScript);
  if (options.dump.count("plan")) dump(options, "plan", dj::dump(compiled.plan));
  if (options.stop_after == Stage::Resolve) return kExitOk;
  // From here on, debug info is closed: the plan holds all that was needed.

  if (!process && !compiled.plan.sites.empty()) {
    return fail(options, kExitScript,
                "the script probes a program, but there is none: give -c 'command' or -p PID");
  }
  ModuleCodes codes(read_text, options.cache ? PlanCache::of_user() : PlanCache::none());
  Status compiled_ok = compile_for(options, process, codes, compiled, clock);
  if (!compiled_ok.ok()) return fail(options, kExitScript, compiled_ok.error().message);
  if (options.stop_after == Stage::Lower) return kExitOk;
  if (options.dry_run) return print_dry_run(options, compiled, process, codes);
  return run_session(options, sources, lua, compiled, process, codes, clock, held);
}

int run(const Options& options) {
  if (!options.coverage.empty())  // a file is looked at, nothing runs
    return print_result(options, kExitScript, coverage_table(options.coverage, read_text));
  if (options.explain) return print_result(options, kExitUsage, explain(*options.explain));
  if (options.clean) return print_result(options, kExitAttach, clean_command(*options.clean));
  if (options.list) return list_points(options);
  return run_script(options);
}

}  // namespace
}  // namespace dj

int main(int argc, char** argv) {
  int exit_code = 0;
  std::optional<dj::Options> options = dj::parse_options(argc, argv, exit_code);
  return options ? dj::run(*options) : exit_code;
}
