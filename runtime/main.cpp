// SPDX-License-Identifier: Apache-2.0
// djtap, the map: what happens, in order. Each step is one call; between them stands what is true
// from there on. The chain: script -> Program -> Plan -> PatchPlan -> Detours -> arm -> restore.
#include <new>

#include "compiler/base/counted.h"
#include "compiler/base/huge_heap.h"
#include "compiler/check/check.h"
#include "compiler/check/dump_program.h"
#include "compiler/diag/explain.h"
#include "compiler/parse/parse.h"
#include "compiler/resolve/many_places.h"
#include "compiler/stages/print_ast.h"
#include "runtime/command/options.h"
#include "runtime/run/clean_processes.h"
#include "runtime/run/compile_for.h"
#include "runtime/run/debug_servers.h"
#include "runtime/run/doctor/doctor.h"
#include "runtime/run/dry_run.h"
#include "runtime/run/editor.h"
#include "runtime/run/expand.h"
#include "runtime/run/find_places.h"
#include "runtime/run/first_process.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/header_types.h"
#include "runtime/run/interactive.h"
#include "runtime/run/kernel_build.h"
#include "runtime/run/kernel_limits.h"
#include "runtime/run/lazy_target.h"
#include "runtime/run/list_points.h"
#include "runtime/run/load_outputs.h"
#include "runtime/run/lowering.h"
#include "runtime/run/module_codes.h"
#include "runtime/run/parse_scripts.h"
#include "runtime/run/running_programs.h"
#include "runtime/run/script_text.h"
#include "runtime/run/session_run.h"
#include "runtime/run/show.h"
#include "runtime/run/tapset_library.h"
#include "runtime/run/target.h"
#include "runtime/run/versions.h"
#include "runtime/run/without_session.h"

namespace dj {
namespace {

// Errors, or with -W warnings, that were printed end the script.
bool ends_here(const MessageChoices& messages, const Diags& diags) {
  const bool by_warning = messages.warnings_are_errors && !diags.all().empty();
  if (diags.ok() && by_warning) fail(kExitScript, "DJ2034", "-W: a warning ends it");
  return !diags.ok() || by_warning;
}

// --help of the script, or an option that neither djtap nor the script has: then the exit code.
std::optional<int> answer_options(const Options& options, const std::string& text,
                                  const ScriptOptions& script_options) {
  if (options.action.script_help)
    return show(script_help(options.script, text, script_options)), kExitOk;
  std::optional<StrangeOption> stranger = script_options.stranger();
  if (!stranger) return std::nullopt;
  return fail_usage(options.line, {"DJ0001", stranger->word,
                                   "neither djtap nor the script has an option " + stranger->name,
                                   stranger->near, ""});
}

NeededFiles needed_files(const Options& options) {
  return needed_files(options.script, options.report, options.session.control_path,
                      options.files.cache);
}

int serve_editor(const Options& options) {
  if (auto code = give_up_rights(options.target, needed_files(options))) return *code;
  return serve_scripts(options.script, options.target, options.messages.many);
}

int clean(const Options& options) {
  TargetChoices target;
  target.pids = options.action.clean.pids;
  target.trusted = options.target.trusted;
  return target.is_given() ? clean_these(target, needed_files(options))
                           : clean_all(target, needed_files(options));
}

// What is wrong with a script, where a word that nothing knows may be a missing tapset's macro.
int fail_words(const Sources& sources, const TapsetLibrary& library, Diags& diags, int exit_code) {
  library.report_lack(diags);
  report_all(diags, sources);
  return exit_code;
}

// What is wrong with its functions and probe points, or with djtap's own tapsets.
int fail_expanded(const Sources& sources, const TapsetLibrary& library, const Diags& diags) {
  report_all(diags, sources);
  return library.lacks_own() ? kExitRun : kExitScript;
}

// The number of the script in `sources`.
uint32_t add_script(const Options& options, const std::string& text, Sources& sources) {
  const ScriptChoices& script = options.script;
  const uint32_t file = sources.add(script.text ? "<command line>" : script.path, text);
  if (options.stages.dump.count("tokens"))
    show_stage(options.stages, "tokens", dump_tokens(sources, file, {script.arguments}));
  return file;
}

// From handlers and patches to the end of the session.
int run_session(const Options& options, const Prepared& prepared,
                std::optional<HeldSignals>& held) {
  SessionRun session(prepared, options.session, options.stages, options.stress);
  if (auto code = session.open(options.report, options.line)) return *code;
  if (auto code = session.build_detours(options.target.writable_text, options.patching.thread_rows))
    return *code;
  // From here on, handlers and detours exist; the target's code is what it was.

  if (auto code = session.begin(options.report, options.line)) return *code;
  try {
    if (auto code = session.arm()) return *code;
    // From here on, the target runs, probed and untraced.

    session.trace();
  } catch (const std::bad_alloc&) {
    session.restore();
    throw;  // main() says why
  }
  session.restore();
  // From here on, no handler runs in the target any more.

  const int exit_code = session.report(options.report);
  return session.exit_code_of_command(held).value_or(exit_code);
}

// ScriptWork: what all stages of one script use.
struct ScriptWork {
  explicit ScriptWork(const Options& options)
      : clock(options.stages.verbose > 0),
        target(options.target,
               options.stages.stop_after < Stage::Resolve ? TargetUse::Unlikely : TargetUse::Probe,
               held->before()) {}

  std::optional<HeldSignals> held{std::in_place};
  StageClock clock;
  LazyTarget target;  // forks, before there is much to fork
  Sources sources;
  Diags diags;
};

bool runs_session(const Options& options) {
  return options.stages.stop_after == Stage::All && !options.action.dry_run &&
         !options.stress.is_on();
}

// A checked script, to the end of its session.
int run_program(const Options& options, ScriptGrowth& growth, Compiled& compiled,
                ScriptWork& work) {
  auto& [held, clock, lazy, sources, diags] = work;
  LuaOutputs lua;
  if (auto code = load_outputs(options.report, options.line, sources, lua)) return *code;
  const MeantTarget meant = meant_target(compiled.program, options.target, diags);
  if (!diags.ok()) return report_all(diags, sources), kExitScript;
  FilesEverywhere everywhere;
  if (runs_session(options)) everywhere = files_everywhere(compiled.program, meant, options.target);
  const bool is_found = everywhere.are_meant()
                            ? lazy.find_all_of(everywhere, options.session.seconds).ok()
                            : lazy.find(meant).ok();
  if (!is_found) return lazy.failure();
  FoundTarget target = lazy.find().take();
  target.follows_execs = target.follows_execs && !options.stress.is_on();
  clock.done("target", summary_of(target));
  // The kernel's text is a new file each time: what djtap kept of it would never be used.
  const bool keeps = options.files.cache && !target.kernel;
  ModuleCodes codes = module_codes(keeps, options.stages.verbose > 0);
  compiled.plan = find_places(compiled, target, codes, diags, clock);
  if (!options.session.control_path.empty()) await_additions(target, compiled.plan);
  if (!options.stress.is_on())
    warn_of_many(compiled.program, compiled.plan, options.messages.many, diags);
  report_all(diags, sources);
  if (ends_here(options.messages, diags) ||
      !settle_types(growth.script(), options.script.strict, sources, options.report, compiled))
    return kExitScript;
  if (options.stages.dump.count("plan")) show_stage(options.stages, "plan", dump(compiled.plan));
  if (options.stages.stop_after == Stage::Resolve) return kExitOk;
  // From here on, debug info is closed: the plan holds all that was needed.

  const Limits& limits = options.session.limits;
  if (auto code = compile_for(target, limits, options.stages, codes, compiled, clock)) return *code;
  if (options.stages.stop_after == Stage::Lower) return kExitOk;
  // From here on, handlers are machine code; it lies nowhere yet.

  compiled.patching = patch_options(options.patching, options.session.is_steered(), compiled.own);
  if (target.kernel) check_kernel_limits(compiled, diags);
  if (!diags.ok()) return report_all(diags, sources), kExitScript;
  if (target.is_there()) plan_patches_for(target, options.stages, codes, compiled, clock);
  if (options.stages.stop_after == Stage::Patch) return kExitOk;
  if (options.action.dry_run)
    return show(dry_run(target, compiled.patches, compiled.plan)), kExitOk;
  // From here on, it is known which bytes change where; none has.

  return run_session(options,
                     {sources, growth, lua, compiled, target, codes, clock, held->before()}, held);
}

// A script, from its text to the end of its session.
int run_script(Options options) {
  ScriptWork work(options);
  auto& [held, clock, target, sources, diags] = work;
  Result<std::string> text = read_script(options.script);
  if (!text.ok()) return fail_usage(options.line, no_script(options.script.path, text.error()));
  if (auto code = give_up_rights(options.target, needed_files(options)))
    return *code;  // djtap has no more than the process of -p
  LoweringThread lowering(options.stages.stop_after >= Stage::Lower && !options.action.tidy);
  const uint32_t file = add_script(options, text.value(), sources);
  TypePrinters printers;
  TapsetLibrary library = tapset_library(options.script.tapsets, sources, target, printers);
  ScriptOptions script_options{options.script.named, options.script.own_names, {}};
  ParseOptions parsing{options.script.arguments,
                       [&](const std::string& macro) { return library.macro_file(macro); },
                       &script_options};
  ast::Script script = parse_scripts(options.script, sources, file, parsing, diags);
  clock.done("parse");
  if (options.action.tidy) return print_tidy(sources, file, diags);
  if (!diags.ok()) return fail_words(sources, library, diags, kExitSyntax);
  warn_of_unused_words(options.script, options.target, sources.files[file].text);
  if (auto code = answer_options(options, text.value(), script_options)) return *code;
  if (options.stages.dump.count("ast")) show_stage(options.stages, "ast", print(script));
  if (options.stages.stop_after == Stage::Parse) return report_all(diags, sources), kExitOk;
  // From here on, the script is a tree; no ANTLR type is in sight.

  library.complete(script, diags);
  clock.done("tapsets", counted(library.files_read(), "file"));
  if (target.failed()) return target.failure();
  if (diags.ok()) expand(options.script, options.target, script, sources, diags);
  if (!diags.ok()) return fail_expanded(sources, library, diags);
  take_named_processes(script, runs_session(options), options.target);
  // From here on, no probe point is an alias.

  Compiled compiled{{&printers, header_compiler(held->before())}};
  compiled.program = check(script, {options.script.strict}, diags);
  clock.done("check");
  if (!diags.ok()) return fail_words(sources, library, diags, kExitScript);
  if (options.stages.dump.count("program"))
    show_stage(options.stages, "program", dump(compiled.program));
  add_own(options.report, compiled);
  if (options.stages.stop_after == Stage::Check) return report_all(diags, sources), kExitOk;
  // From here on, every name is an id and every expression has a type.

  ScriptGrowth growth(script, options.script, options.target, sources, library, parsing);
  return run_program(options, growth, compiled, work);
}

int run(const Options& options) {
  const ActionChoices& action = options.action;
  report_as(options.messages);
  if (action.version) return show(versions()), kExitOk;
  if (!options.stress.coverage.empty()) return show_coverage(options.stress.coverage);
  if (action.explain)
    return print_result(explain(*action.explain), [&](const Error& error) {
      return fail_usage(options.line, {"DJ0003", "--explain", error.message, {}, ""});
    });
  if (action.clean.wanted) return clean(options);
  if (action.kernel_build.wanted)
    return build_for_kernel(action.kernel_build, options.report.output_path);
  if (action.doctor)
    return run_doctor(options.target, options.files, needed_files(options), options.session.limits,
                      action.doctor_json);
  if (!action.language_server) let_servers_be_asked(options.files);
  if (options.list.pattern)
    return list_points(options.list, options.script, options.target, needed_files(options),
                       options.line);
  if (action.language_server) return serve_editor(options);
  if (action.interactive)
    return run_interactively(action.words, options.script, options.target, options.messages.many,
                             needed_files(options));
  return run_script(options);
}

}  // namespace
}  // namespace dj

// What else is thrown is a mistake in djtap, which ends it.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  dj::leave_first_process();
  dj::begin_huge_heap();
  dj::fill_standard_descriptors();
  int exit_code = 0;
  std::optional<dj::Options> options = dj::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    exit_code = dj::run(*options);
  } catch (const std::bad_alloc&) {  // what djtap holds of the target is let go on the way here
    return dj::fail(dj::exit_code_beside(options->target), "DJ5013", "there is not enough memory");
  }
  dj::warn_of_children_left();
  return dj::end_of_output(options->target, exit_code);
}
