// SPDX-License-Identifier: Apache-2.0
// djtap, the map: what happens, in order. Each step is one call; between them stands what is true
// from there on.
#include <fmt/format.h>
#include <unistd.h>

#include <new>

#include "compiler/base/counted.h"
#include "compiler/base/huge_heap.h"
#include "compiler/check/check.h"
#include "compiler/check/dump_program.h"
#include "compiler/debuginfo/text.h"
#include "compiler/diag/explain.h"
#include "compiler/parse/parse.h"
#include "compiler/stages/print_ast.h"
#include "compiler/tapset/library.h"
#include "runtime/clean/clean.h"
#include "runtime/command/options.h"
#include "runtime/doctor/doctor.h"
#include "runtime/lua/lua_outputs.h"
#include "runtime/lua/lua_tapset.h"
#include "runtime/output/stage_clock.h"
#include "runtime/output/tell.h"
#include "runtime/output/terminal.h"
#include "runtime/patch/coverage.h"
#include "runtime/run/compile_for.h"
#include "runtime/run/debug_servers.h"
#include "runtime/run/dry_run.h"
#include "runtime/run/editor.h"
#include "runtime/run/expand.h"
#include "runtime/run/find_places.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/header_types.h"
#include "runtime/run/interactive.h"
#include "runtime/run/lazy_target.h"
#include "runtime/run/list_points.h"
#include "runtime/run/lowering.h"
#include "runtime/run/parse_scripts.h"
#include "runtime/run/run_session.h"
#include "runtime/run/say.h"
#include "runtime/run/script_text.h"
#include "runtime/run/target.h"
#include "runtime/run/versions.h"

namespace dj {
namespace {

std::string summary_of(const std::optional<TracedProcess>& process) {
  if (!process) return "none";
  return fmt::format("pid {}, {}", process->pid, counted(process->modules.size(), "module"));
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

// What is kept between sessions, and under -v what of it is not used.
KeptFiles kept_files(const Options& options) {
  if (!options.cache) return KeptFiles::none();
  return KeptFiles::of_user([&options](const std::string& what) {
    if (options.verbose > 0) log_line("djtap: cache: {}", what);
  });
}

int serve_editor(const Options& options) {
  if (auto code = give_up_rights(options)) return *code;
  return serve_scripts(options);
}

int clean_process(const Options& options) {
  if (auto code = give_up_rights(options)) return *code;
  return print_result(clean_command(*options.clean), fail_attach);
}

// What is wrong with a script, where a word that nothing knows may be a missing tapset's macro.
int fail_words(const Options& options, const Sources& sources, const TapsetLibrary& library,
               Diags& diags, int exit_code) {
  library.report_lack(diags);
  print_diags(diags, sources, options);
  return exit_code;
}

// What is wrong with its functions and probe points, or with djtap's own tapsets.
int fail_expanded(const Options& options, const Sources& sources, const TapsetLibrary& library,
                  const Diags& diags) {
  print_diags(diags, sources, options);
  return library.lacks_own() ? kExitRun : kExitScript;
}

// The number of the script in `sources`.
uint32_t add_script(const Options& options, const std::string& text, Sources& sources) {
  const uint32_t file =
      sources.add(options.script_text ? "<command line>" : options.script_path, text);
  if (options.dump.count("tokens"))
    show_stage(options, "tokens", dump_tokens(sources, file, {options.script_args}));
  return file;
}

// A script, from its text to the end of its session.
int run_script(const Options& options) {
  std::optional<HeldSignals> held(std::in_place);
  StageClock clock(options.verbose > 0);
  LazyTarget target(options, held->before());  // forks, before there is much to fork
  Result<std::string> text = read_script(options);
  if (!text.ok()) return fail_usage(options, no_script(options, text.error()));
  if (auto code = give_up_rights(options))
    return *code;  // djtap has no more than the process of -p
  LoweringThread lowering(options.stop_after >= Stage::Lower && !options.tidy);
  Sources sources;
  Diags diags;
  const uint32_t file = add_script(options, text.value(), sources);
  TypePrinters printers;
  TapsetLibrary library(sources, tapset_folders(options.include),
                        run_lua_tapsets(sources, [&] { return target.index(); }, printers));
  ScriptOptions script_options{options.script_options, options.own_names, {}};
  ParseOptions parsing{options.script_args,
                       [&](const std::string& macro) { return library.macro_file(macro); },
                       &script_options};
  ast::Script script = parse_scripts(options, sources, file, parsing, diags);
  clock.done("parse");
  if (options.tidy) return print_tidy(options, sources, file, diags);
  if (!diags.ok()) return fail_words(options, sources, library, diags, kExitSyntax);
  if (auto code = answer_options(options, text.value(), script_options)) return *code;
  if (options.dump.count("ast")) show_stage(options, "ast", print(script));
  if (options.stop_after == Stage::Parse) return print_diags(diags, sources, options), kExitOk;
  // From here on, the script is a tree; no ANTLR type is in sight.

  library.complete(script, diags);
  clock.done("tapsets", counted(library.files_read(), "file"));
  if (target.failed()) return target_failure(options, target.find().error());
  if (diags.ok()) expand(options, script, sources, diags);
  if (!diags.ok()) return fail_expanded(options, sources, library, diags);
  // From here on, no probe point is an alias.

  Compiled compiled{{&printers, header_compiler(held->before())}};
  compiled.program = check(script, {options.strict}, diags);
  clock.done("check");
  if (!diags.ok()) return fail_words(options, sources, library, diags, kExitScript);
  if (options.dump.count("program")) show_stage(options, "program", dump(compiled.program));
  add_own(options, compiled);
  if (options.stop_after == Stage::Check) return print_diags(diags, sources, options), kExitOk;
  // From here on, every name is an id and every expression has a type.

  LuaOutputs lua;
  if (auto code = load_outputs(options, sources, lua)) return *code;
  if (!target.find().ok()) return target_failure(options, target.find().error());
  std::optional<TracedProcess> process = target.find().take();
  clock.done("target", summary_of(process));
  ModuleCodes codes(read_text, PlanCache(kept_files(options)));
  compiled.plan = find_places(options, compiled, process, codes, diags, clock);
  print_diags(diags, sources, options);
  if (ends_here(options, diags) || !settle_types(options, sources, script, compiled))
    return kExitScript;
  if (options.dump.count("plan")) show_stage(options, "plan", dump(compiled.plan));
  if (options.stop_after == Stage::Resolve) return kExitOk;
  // From here on, debug info is closed: the plan holds all that was needed.

  if (auto code = compile_for(options, process, codes, compiled, clock)) return *code;
  if (options.stop_after == Stage::Lower) return kExitOk;
  // From here on, handlers are machine code; it lies nowhere yet.

  if (process) plan_patches_for(options, *process, codes, compiled, clock);
  if (options.stop_after == Stage::Patch) return kExitOk;
  if (options.dry_run) return show(dry_run(process, compiled.patches, compiled.plan)), kExitOk;
  // From here on, it is known which bytes change where; none has.

  return run_session(options, sources, lua, compiled, process, codes, clock, held);
}

int run(const Options& options) {
  set_tell_form({options.json_diagnostics, options.colour.value_or(is_coloured(STDERR_FILENO))});
  if (options.version) return show(versions()), kExitOk;
  if (!options.coverage.empty())  // a file is looked at, nothing runs
    return print_result(coverage_table(options.coverage, read_text), [](const Error& error) {
      return fail(kExitScript, "DJ3005", error.message);
    });
  if (options.explain)
    return print_result(explain(*options.explain), [&](const Error& error) {
      return fail_usage(options, {"DJ0003", "--explain", error.message, {}, ""});
    });
  if (options.clean) return clean_process(options);
  if (options.doctor) return run_doctor(options);
  if (!options.language_server) let_servers_be_asked(options);
  if (options.list) return list_points(options);
  if (options.language_server) return serve_editor(options);
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
  dj::warn_of_children_left();
  return dj::end_of_output(*options, exit_code);
}
