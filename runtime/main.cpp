// djtap, the map: what happens, in order. Each step is one call; between them stands what is true
// from there on.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "compiler/check/arming.h"
#include "compiler/check/check.h"
#include "compiler/check/dump_program.h"
#include "compiler/check/time_probes.h"
#include "compiler/counted.h"
#include "compiler/debuginfo/call_frames.h"
#include "compiler/debuginfo/text.h"
#include "compiler/explain.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/print_ast.h"
#include "compiler/resolve/double_targets.h"
#include "compiler/resolve/kept_plan.h"
#include "compiler/resolve/many_places.h"
#include "compiler/resolve/pointers.h"
#include "compiler/resolve/process_number.h"
#include "compiler/resolve/resolve.h"
#include "compiler/stack_info.h"
#include "compiler/tapset/library.h"
#include "runtime/clean/clean.h"
#include "runtime/command/options.h"
#include "runtime/huge_blocks.h"
#include "runtime/lua/lua_outputs.h"
#include "runtime/lua/lua_tapset.h"
#include "runtime/output/progress.h"
#include "runtime/output/stage_clock.h"
#include "runtime/output/tell.h"
#include "runtime/output/terminal.h"
#include "runtime/patch/coverage.h"
#include "runtime/patch/hooks.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/run/compiled.h"
#include "runtime/run/editor.h"
#include "runtime/run/expand.h"
#include "runtime/run/header_types.h"
#include "runtime/run/interactive.h"
#include "runtime/run/kept_handlers.h"
#include "runtime/run/lazy_target.h"
#include "runtime/run/list_points.h"
#include "runtime/run/lowering.h"
#include "runtime/run/run_session.h"
#include "runtime/run/say.h"
#include "runtime/run/script_text.h"
#include "runtime/run/target.h"
#include "runtime/session/dry_run.h"
#include "runtime/session/stack_tables.h"

namespace dj {
namespace {

void dump(const Options& options, const char* stage, const std::string& text) {
  if (options.dump.count(stage)) show(text);
}

std::string summary_of(const std::optional<TracedProcess>& process) {
  if (!process) return "none";
  return fmt::format("pid {}, {}", process->pid, counted(process->modules.size(), "module"));
}

// Where globals and stack tables lie in this target, and what else its code depends on there.
Status lay_out_for(const Options& options, std::optional<TracedProcess>& process,
                   ModuleCodes& codes, Compiled& compiled, StageClock& clock) {
  if (process) {
    DJ_TRY_DO(process->find_rseq());
    std::string why;
    compiled.use_rseq = can_trust_rseq(process->rseq_registered, process->modules, codes, &why);
    clock.done("rseq", compiled.use_rseq ? "" : why);
    mark_shared_exits(compiled.plan, process->modules, codes);
    clock.done("exits");
  }
  uint32_t cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  if (process && walks_stack(compiled.program)) {
    auto frames = static_cast<uint32_t>(options.limits.max_backtrace);
    bool lines = names_lines(compiled.program);
    auto read = [lines](const std::string& path) { return read_stack_info(path, lines); };
    compiled.stacks.emplace(process->modules, read, frames, compiled.plan.awaits_objects);
    clock.done("stacks", fmt::format("{} kB of tables", compiled.stacks->bytes().size() >> 10));
  }
  auto lay = [&](uint64_t base) {
    return lay_out(compiled.program, compiled.plan, options.limits, cpus, base,
                   compiled.stacks ? compiled.stacks->room() : 0);
  };
  DJ_TRY(uint64_t base, find_arena_base(process ? &*process : nullptr, lay(kNominalBase).bytes));
  compiled.layout = lay(base);
  return ok_status();
}

// Plan to code.
Status compile(const Options& options, ModuleCodes& codes, Compiled& compiled, StageClock& clock) {
  EmitOptions emit;
  emit.abi.has_rseq = compiled.use_rseq;
  emit.want_ir = options.dump.count("ir") > 0;
  emit.want_assembly = options.dump.count("asm") > 0;
  const KeptObjects kept = kept_handlers(codes);
  if (codes.kept_files().keeps()) emit.kept = &kept;
  DJ_TRY(compiled.image,
         lower(compiled.program, compiled.plan, compiled.layout, emit, compiled.abis));
  dump(options, "ir", compiled.image.ir);
  dump(options, "asm", compiled.image.assembly);
  clock.done("lower", fmt::format("{}{}", counted(compiled.plan.handlers.size(), "handler"),
                                  compiled.image.is_kept ? ", kept" : ""));
  return ok_status();
}

// --fmt. parsed: what the parser said. What is no sentence of the grammar is not tidied; what only
// a run has ($1), and what djtap has not (C code, SystemTap's macros), may stand in what is.
int print_tidy(const Options& options, const Sources& sources, uint32_t file, const Diags& parsed) {
  const auto is_grammars = [&](const Diag& diag) {
    return diag.code >= "DJ1011" && diag.code <= "DJ1015" &&
           !sources.text(diag.span).starts_with('@');
  };
  if (std::any_of(parsed.all().begin(), parsed.all().end(), is_grammars))
    return print_diags(parsed, sources, options), kExitSyntax;
  Diags diags;
  std::string text = tidy(sources, file, diags);
  if (diags.ok()) show(text);
  print_diags(diags, sources, options);
  return diags.ok() ? kExitOk : kExitSyntax;
}

int print_dry_run(const Options& options, const Compiled& compiled,
                  std::optional<TracedProcess>& process, ModuleCodes& codes) {
  SessionInput input = session_input(options, compiled);
  return print_result(dry_run(process ? &*process : nullptr, codes, input), fail_attach);
}

int compile_failure(const Error& error) {
  return error.kind == Fail::Unsupported ? fail(kExitScript, "DJ3015", error.message)
                                         : fail(kExitRun, "DJ5013", error.message);
}

// The plan's code for this target; when it cannot be had, the exit code.
std::optional<int> compile_for(const Options& options, std::optional<TracedProcess>& process,
                               ModuleCodes& codes, Compiled& compiled, StageClock& clock) {
  Status laid_out = lay_out_for(options, process, codes, compiled, clock);
  if (!laid_out.ok()) return fail_attach(laid_out.error());
  // From here on, every global has its address.

  Status done = compile(options, codes, compiled, clock);
  if (!done.ok()) return compile_failure(done.error());
  return std::nullopt;
}

// What djtap adds to the script.
void add_own(const Options& options, Compiled& compiled) {
  compiled.shown_globals = compiled.program.globals.size();
  if (options.times) compiled.times = time_probes(compiled.program);
  compiled.armings = add_arming_tests(compiled.program);
}

// Which target variables are doubles is known now: where there are any, the script is checked once
// more, with that. False: it was reported what cannot be done with them.
bool settle_types(const Options& options, const Sources& sources, const ast::Script& script,
                  Compiled& compiled) {
  DoubleTargets doubles = settle_doubles(compiled.program, compiled.plan);
  if (!doubles.empty()) {
    Diags diags;  // warnings were printed the first time
    compiled.program = check(script, {options.strict, doubles}, diags);
    if (!diags.ok()) return print_diags(diags, sources, options), false;
    add_own(options, compiled);
  }
  mark_pointers(compiled.program, compiled.plan);
  return true;
}

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The script, and those of -E, as one.
ast::Script parse_scripts(const Options& options, Sources& sources, uint32_t file,
                          const ParseOptions& parsing, Diags& diags) {
  ast::Script script = parse(sources, file, parsing, diags);
  for (const std::string& text : options.more_scripts) {
    ast::Script more = parse(sources, sources.add("<-E>", text), parsing, diags);
    append(script.globals, more.globals);
    append(script.functions, more.functions);
    append(script.probes, more.probes);
    append(script.aliases, more.aliases);
  }
  return script;
}

// Errors, or with -W warnings, that were printed end the script.
bool ends_here(const Options& options, const Diags& diags) {
  const bool by_warning = options.warnings_are_errors && !diags.all().empty();
  if (diags.ok() && by_warning) tell_error("DJ2034", "-W: a warning ends it");
  return !diags.ok() || by_warning;
}

// --help of the script, or an option that nobody knows: then the exit code.
std::optional<int> answer_options(const Options& options, const std::string& text,
                                  const ScriptOptions& script_options) {
  if (options.script_help) return show(script_help(options, text, script_options)), kExitOk;
  std::optional<StrangeOption> stranger = script_options.stranger();
  if (!stranger) return std::nullopt;
  return fail_usage(options, {"DJ0001", stranger->word,
                              "neither djtap nor the script has an option " + stranger->name,
                              stranger->near, ""});
}

// The files of -f plugin: and --report; when they cannot be had, the exit code.
std::optional<int> load_outputs(const Options& options, Sources& sources, LuaOutputs& lua) {
  Status loaded = lua.load_plugin(options.plugin, sources);
  if (!loaded.ok()) return fail_without(options, "-f,--format", loaded.error().message);
  loaded = lua.load_report(options.report_path, sources);
  if (!loaded.ok()) return fail_without(options, "--report", loaded.error().message);
  if (lua.diags().ok()) return std::nullopt;
  print_diags(lua.diags(), sources, options);
  return kExitSyntax;
}

// Reads the largest object's code while it is looked for what is probed.
void read_ahead(const TracedProcess& process, ModuleCodes& codes) {
  const auto smaller = [](const MappedModule& a, const MappedModule& b) {
    return a.end - a.begin < b.end - b.begin;
  };
  const auto largest = std::max_element(process.modules.begin(), process.modules.end(), smaller);
  if (largest != process.modules.end()) codes.read_ahead(*largest);
}

// Where the probes go; as an earlier session has found it, if that is kept.
Plan find_places(const Options& options, Compiled& compiled,
                 const std::optional<TracedProcess>& process, ModuleCodes& codes, Diags& diags,
                 StageClock& clock) {
  for (Probe& probe : compiled.program.probes)
    take_process_numbers(probe.points, process ? process->pid : 0, diags);
  TargetFiles files = target_files(process, compiled.printers);
  files.compile_headers = compiled.compile_headers;
  const bool keeps = codes.kept_files().keeps();
  const std::string key = keeps ? plan_key(compiled.program, files, options.times) : "";
  const std::string name = "plan-" + short_name(key);
  std::optional<Plan> plan;
  if (!key.empty()) {
    if (std::optional<KeptBytes> kept = codes.kept_files().load(name, key))
      plan = unpack_plan(kept->bytes);
  }
  const bool is_kept = plan.has_value();
  if (!is_kept) {
    if (process && means_all_objects(compiled.program)) read_ahead(*process, codes);
    const size_t said = diags.all().size();
    plan = with_progress("finding what is to be probed",
                         [&] { return resolve(compiled.program, files, diags, options.times); });
    std::string packed = key.empty() || diags.all().size() != said ? "" : pack_plan(*plan);
    if (!packed.empty()) codes.plan_key = key;
    codes.keep(name, key, std::move(packed));
  } else {
    codes.plan_key = key;
  }
  if (!options.stress) warn_of_many(compiled.program, *plan, options.many, diags);
  clock.done("resolve",
             fmt::format("{}{}", counted(plan->sites.size(), "site"), is_kept ? ", kept" : ""));
  return std::move(*plan);
}

// A script, from its text to the end of its session.
int run_script(const Options& options) {
  std::optional<HeldSignals> held(std::in_place);
  StageClock clock(options.verbose > 0);
  LazyTarget target(options, held->before());  // forks, before there is much to fork
  LoweringThread lowering(options.stop_after >= Stage::Lower && !options.tidy);
  Result<std::string> text = read_script(options);
  if (!text.ok())
    return fail_usage(options, {"DJ0006", options.script_path, text.error().message, {}, ""});
  Sources sources;
  Diags diags;
  uint32_t file =
      sources.add(options.script_text ? "<command line>" : options.script_path, text.value());
  if (options.dump.count("tokens"))
    dump(options, "tokens", dump_tokens(sources, file, {options.script_args}));
  TypePrinters printers;
  TapsetLibrary library(sources, tapset_folders(options.include),
                        run_lua_tapsets(
                            sources, [&] { return target.index(); }, printers));
  ScriptOptions script_options{options.script_options, options.own_names, {}};
  ParseOptions parsing{options.script_args,
                       [&](const std::string& macro) { return library.macro_file(macro); },
                       &script_options};
  ast::Script script = parse_scripts(options, sources, file, parsing, diags);
  clock.done("parse");
  if (options.tidy) return print_tidy(options, sources, file, diags);
  if (!diags.ok()) return print_diags(diags, sources, options), kExitSyntax;
  if (auto code = answer_options(options, text.value(), script_options)) return *code;
  if (options.dump.count("ast")) dump(options, "ast", print(script));
  if (options.stop_after == Stage::Parse) return print_diags(diags, sources, options), kExitOk;
  // From here on, the script is a tree; no ANTLR type is in sight.

  library.complete(script, diags);
  clock.done("tapsets", counted(library.files_read(), "file"));
  if (target.failed()) return target_failure(options, target.find().error());
  if (diags.ok()) expand(options, script, sources, diags);
  if (!diags.ok()) return print_diags(diags, sources, options), kExitScript;
  // From here on, no probe point is an alias.

  Compiled compiled{&printers, header_compiler(held->before())};
  compiled.program = check(script, {options.strict}, diags);
  clock.done("check");
  if (!diags.ok()) return print_diags(diags, sources, options), kExitScript;
  if (options.dump.count("program")) dump(options, "program", dj::dump(compiled.program));
  add_own(options, compiled);
  if (options.stop_after == Stage::Check) return print_diags(diags, sources, options), kExitOk;
  // From here on, every name is an id and every expression has a type.

  LuaOutputs lua;
  if (auto code = load_outputs(options, sources, lua)) return *code;
  if (!target.find().ok()) return target_failure(options, target.find().error());
  std::optional<TracedProcess> process = target.find().take();
  clock.done("target", summary_of(process));
  ModuleCodes codes(read_text, PlanCache(options.cache ? KeptFiles::of_user() : KeptFiles::none()));
  compiled.plan = find_places(options, compiled, process, codes, diags, clock);
  print_diags(diags, sources, options);
  if (ends_here(options, diags) || !settle_types(options, sources, script, compiled))
    return kExitScript;
  if (options.dump.count("plan")) dump(options, "plan", dj::dump(compiled.plan));
  if (options.stop_after == Stage::Resolve) return kExitOk;
  // From here on, debug info is closed: the plan holds all that was needed.

  if (!process && !compiled.plan.sites.empty())
    return fail(kExitScript, "DJ3006",
                "the script probes a program, but there is none: give -c 'command' or -p PID");
  if (auto code = compile_for(options, process, codes, compiled, clock)) return *code;
  if (options.stop_after == Stage::Lower) return kExitOk;
  if (options.dry_run) return print_dry_run(options, compiled, process, codes);
  return run_session(options, sources, lua, compiled, process, codes, clock, held);
}

int run(const Options& options) {
  set_tell_form({options.json_diagnostics, options.colour.value_or(is_coloured(STDERR_FILENO))});
  if (!options.coverage.empty())  // a file is looked at, nothing runs
    return print_result(coverage_table(options.coverage, read_text), [](const Error& error) {
      return fail(kExitScript, "DJ3005", error.message);
    });
  if (options.explain)
    return print_result(explain(*options.explain), [&](const Error& error) {
      return fail_usage(options, {"DJ0003", "--explain", error.message, {}, ""});
    });
  if (options.clean) return print_result(clean_command(*options.clean), fail_attach);
  if (options.list) return list_points(options);
  if (options.language_server) return serve_scripts(options);
  if (options.interactive) return run_interactively(options);
  return run_script(options);
}

}  // namespace
}  // namespace dj

int main(int argc, char** argv) {
  dj::begin_huge_heap();
  dj::fill_standard_descriptors();
  int exit_code = 0;
  std::optional<dj::Options> options = dj::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    exit_code = dj::run(*options);
  } catch (const std::bad_alloc&) {  // what djtap holds of the target is let go on the way here
    return dj::fail(dj::exit_code_beside(*options), "DJ5013", "there is not enough memory");
  }
  return dj::end_of_output(*options, exit_code);
}
