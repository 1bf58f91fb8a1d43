// SPDX-License-Identifier: Apache-2.0
// The command line: what stap(1) users know (-e -c -p -x -o -l -L -v -D), and djtap's own.
#include "runtime/command/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/diag/diag.h"
#include "runtime/command/help.h"
#include "runtime/command/option_values.h"
#include "runtime/command/process_words.h"
#include "runtime/command/stap_options.h"
#include "runtime/output/messages.h"
#include "runtime/output/terminal.h"

namespace dj {
namespace {

const std::map<std::string, arch::Guards> kGuards = {{"needed", arch::Guards::WhereNeeded},
                                                     {"all", arch::Guards::Everywhere},
                                                     {"none", arch::Guards::None}};
const std::map<std::string, Stage> kStages = {{"parse", Stage::Parse},
                                              {"check", Stage::Check},
                                              {"resolve", Stage::Resolve},
                                              {"lower", Stage::Lower},
                                              {"patch", Stage::Patch}};
const std::map<std::string, bool> kIsJson = {{"text", false}, {"json", true}};

// What CLI11 fills besides Options.
struct Words {
  std::vector<std::string> positional;  // script file and its arguments
  std::vector<std::string> program;     // of doctor, with its arguments
  std::vector<std::string> processes;   // of -p
  std::vector<std::string> cleaned;     // of clean
  bool no_optimize = false;
  bool help = false;
};

// For CLI11, which wants to hear a text.
auto check_by(void (*check)(const std::string&)) {
  return [check](const std::string& text) { return check(text), std::string(); };
}

void add_script_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("-e", options.script.text, "the script itself")->option_text("SCRIPT");
  app.add_option("-E", options.script.more, "a script that runs beside the other one")
      ->allow_extra_args(false)
      ->option_text("SCRIPT");
  app.add_option("script", words.positional,
                 "script file (unless -e or -l), then its arguments $1 ..");
  app.add_option("-I", options.script.tapsets,
                 "look for tapsets (*.djt, *.djtm) in this folder, too")
      ->check(check_by(check_folder))
      ->allow_extra_args(false)
      ->option_text("FOLDER");
  app.add_flag("--fmt", options.action.tidy,
               "print the script in tidy form, comments kept; run nothing");
  app.add_option("-G", options.script.settings, "the initial value of a global of the script")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  app.add_flag("--strict", options.script.strict,
               "undeclared names are local, as in SystemTap; so they are in FILE.stp");
}

void add_limit_options(CLI::App& app, Options& options) {
  app.add_option_function<std::vector<std::string>>(
         "-D", [&options](const std::vector<std::string>& each) { set_limits(options, each); },
         "a limit of the script: MAXACTION, MAXMAPENTRIES ...")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  app.add_option("-T", options.session.seconds, "end the session after so many seconds")
      ->check(check_by(check_seconds))
      ->option_text("SECONDS");
  app.add_option("--many", options.messages.many,
                 "warn where a pattern means more places than this (10000; 0: never)")
      ->check([](const std::string& text) { return check_whole("--many", text), ""; })
      ->option_text("PLACES");
}

// stap's options that are others of djtap's, said differently. Not in --help: djtap(1) has them.
void add_stap_options(CLI::App& app, Options& options) {
  const auto unlisted = [](CLI::Option* option) { option->group("")->allow_extra_args(false); };
  constexpr int64_t kNever = 1 << 30;
  unlisted(app.add_option_function<std::string>(
      "--compatible", [&options](const std::string&) { options.script.strict = true; }, ""));
  unlisted(app.add_option_function<std::vector<std::string>>(
      "-d", [](const std::vector<std::string>&) {}, ""));  // all objects' symbols are read
  unlisted(app.add_option_function<std::string>(
      "-s", [&options](const std::string& text) { set_ring(options, text); }, ""));
  unlisted(app.add_option_function<std::string>(
      "--vp",
      [&options](const std::string& levels) {
        options.stages.verbose += levels.find_first_not_of('0') != std::string::npos;
      },
      ""));
  unlisted(app.add_flag("!--disable-cache,!--poison-cache", options.files.cache, ""));
  unlisted(app.add_flag_callback(
      "--suppress-handler-errors", [&options] { options.session.limits.max_errors = 0; }, ""));
  unlisted(app.add_flag_callback(
      "--suppress-time-limits",
      [&options] {
        options.session.limits.max_action = options.session.limits.max_action_host = kNever;
      },
      ""));
}

void add_target_options(CLI::App& app, Options& options, Words& words) {
  app.add_option_function<std::string>(
         "-c", [&options](const std::string& text) { set_command(options, text); },
         "run this command and trace it; so does -- COMMAND at the end of the line")
      ->option_text("COMMAND");
  app.add_option(
         "-p,-x", words.processes,
         "trace these running processes: numbers and names, one or several, apart by commas "
         "or spaces; a name means all processes of that name")
      ->allow_extra_args(false)
      ->option_text("PID|NAME,...");
  app.add_flag("!--no-follow", options.target.follow,
               "-c: probes stay in the command; what its descendants execute is not followed");
  app.add_option("--control", options.session.control_path,
                 "a UNIX stream socket at this path takes commands while the session runs, one a "
                 "line: list, enable N|GLOB, disable N|GLOB")
      ->option_text("PATH");
  app.add_flag("--no-optimize", words.no_optimize, "int3 at every site, no jumps");
  app.add_option_function<std::string>(
         "--guards", one_of("--guards", kGuards, options.patching.guards),
         "which of the instructions that a jump covers are kept as int3: needed, those where "
         "somebody may arrive; all; or none: plain jumps only")
      ->option_text("WHICH");
  app.add_flag("--live", options.patching.live,
               "with -p: patch text while the program runs, all its threads standing only to be "
               "moved out of it; needs a SIGTRAP action in the program");
  app.add_flag("!--no-thread-rows", options.patching.thread_rows,
               "count by calls of handlers: for programs that use their threads' gs base");
  app.add_flag(
      "--writable-text", options.target.writable_text,
      "probe code that the program may write to (mapped rwx), too: it must leave it alone");
  app.add_flag("--trust-target", options.target.trusted,
               "with -p: keep djtap's rights although the process has fewer; who can write its "
               "memory may get them");
  app.add_flag("!--no-cache", options.files.cache,
               "neither use nor keep analyses of modules in ~/.cache/djtap");
  app.add_flag(
      "!--no-debuginfod", options.files.debuginfod,
      "ask no server that DEBUGINFOD_URLS names for symbols and debug information that are "
      "missing here");
}

void add_output_options(CLI::App& app, Options& options) {
  app.add_option(
         "-o", options.report.output_path,
         "write the script's output to this file; a script's switch_file() goes on in FILE.1, "
         "FILE.2 ..")
      ->option_text("FILE");
  app.add_option_function<std::string>(
         "-S", [&options](const std::string& text) { set_rotation(options, text); },
         "with -o: begin FILE.1, FILE.2 .. when FILE.0 would get larger than so many megabytes; "
         "keep the "
         "newest FILES")
      ->option_text("MB[,FILES]");
  app.add_flag(
      "-t,--times", options.report.times,
      "at the end: hits of each probe, those whose handler did not run to its end (skips), "
      "and the least, average and longest time of the others; warnings say the reasons; "
      "of several processes the hits and times in each");
  app.add_flag("--calls", options.report.calls,
               "at the end: of return probes how many calls were entered, returned, abandoned "
               "(exceptions, longjmp, ended threads) or are still inside; each function gets a "
               "probe at its entry, too, so that one of which calls cannot be followed is skipped");
  app.add_flag(
      "--monitor", options.session.monitor,
      "show probes, the busiest processes, globals and output on the terminal while the session "
      "runs; keys switch probes, sort, count from 0 and quit; with -o the output goes to the file "
      "instead");
  app.add_option_function<std::string>(
         "-f,--format", [&options](const std::string& form) { set_format(options, form); },
         "form of the globals shown at the end: text, json or csv; plugin:NAME: all output by a "
         "Lua plugin: chrome, csv, flame, json, prometheus, or a file NAME.lua")
      ->option_text("FORM");
  app.add_flag("!--no-global-var-display", options.report.show_globals,
               "globals that no handler reads are not printed at the end");
  app.add_flag("-w", options.messages.no_warnings, "print no warnings of the script");
  app.add_flag("-W", options.messages.warnings_are_errors,
               "warnings of the script end it; -W undeclared: --strict");
  app.add_option("--report", options.report.lua_path,
                 "a Lua file that gets all globals at the end and prints the report")
      ->option_text("FILE.lua");
}

void add_look_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("-l", options.list.pattern,
                 "list the probe points that match, one a line: func(\"m*\"), syscall.*, **")
      ->option_text("POINT");
  app.add_option_function<std::string>(
         "-L",
         [&options](const std::string& text) {
           options.list.pattern = text;
           options.list.variables = true;
         },
         "the same with parameters, locals and their types")
      ->option_text("POINT");
  app.add_option_function<std::string>(
         "--source", [&options](const std::string& text) { set_source(options, text); },
         "print the source of a function, with the lines that can be probed and their variables")
      ->option_text("FUNC");
  app.add_option("--stress", options.stress.pattern,
                 "count every function (that matches, as in func(\"...\")) and report the engine; "
                 "\"kernel\": all of the kernel")
      ->expected(0, 1)
      ->option_text("[FUNC]");
  app.add_option(
         "--coverage", options.stress.coverage,
         "with --stress: how this file's functions could be probed; \"kernel\": the kernel's")
      ->option_text("FILE");
  app.add_flag("-n,--dry-run", options.action.dry_run,
               "say which sites would be armed and how; -c's command is killed before it runs");
  app.add_flag("--probes", options.stages.probes, "list every site with its state when armed");
  app.add_flag("-v,--verbose", options.stages.verbose, "print milliseconds per stage");
  app.add_option_function<std::string>(
         "--dump", [&options](const std::string& list) { set_dumps(options, list); },
         "print a stage's data: tokens,ast,program,plan,ir,asm,patches,detours,probes")
      ->option_text("STAGES");
  app.add_option_function<std::string>("--stop-after",
                                       one_of("--stop-after", kStages, options.stages.stop_after),
                                       "parse, check, resolve, lower or patch")
      ->option_text("STAGE");
  app.add_option_function<std::string>("--diagnostics",
                                       one_of("--diagnostics", kIsJson, options.messages.json),
                                       "form of diagnostics: text, or json (one object a line)")
      ->option_text("FORM");
  app.add_option("--explain", options.action.explain,
                 "say what a diagnostic's code means, with an example")
      ->option_text("CODE");
  app.add_flag("-i,--interactive", options.action.interactive,
               "a script that grows at a prompt: help there names the commands");
  app.add_flag("--lsp,--language-server", options.action.language_server,
               "a language server for editors (LSP) on standard input and output");
  app.add_flag("-V,--version", options.action.version,
               "print the versions of djtap, LLVM and libdw, and djtap's build id");
  app.add_flag("-h,--help", words.help, "print this help; with a script: also its options");
}

// What `add` adds is a group of --help.
template <typename Add>
void add_group(CLI::App& app, const char* name, const Add& add) {
  const size_t before = app.get_options().size();
  add();
  const std::vector<CLI::Option*> all = app.get_options();
  for (size_t i = before; i < all.size(); ++i) all[i]->group(name);
}

void add_options(CLI::App& app, Options& options, Words& words) {
  app.set_help_flag();  // not CLI11's
  add_group(app, "Target", [&] { add_target_options(app, options, words); });
  add_group(app, "Script", [&] { add_script_options(app, options, words); });
  add_group(app, "Output", [&] { add_output_options(app, options); });
  add_group(app, "Limits", [&] { add_limit_options(app, options); });
  add_group(app, "Looking around", [&] { add_look_options(app, options, words); });
  add_stap_options(app, options);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();  // --probes=no
  }
}

// `first`: the first word that is no option. Only that is a command; behind a script it is an
// argument of the script, and a script of that name is ./NAME.
void add_commands(CLI::App& app, Options& options, Words& words, const std::string& first) {
  const auto add = [&](const char* name, const char* takes, const char* what) {
    return app.add_subcommand(name, what)->footer(takes)->fallthrough()->disabled(first != name);
  };
  CLI::App* clean = add("clean", "[PID|NAME ...]",
                        "take out what djtaps that were killed have left, in these processes and "
                        "their children or in all");
  clean->add_option("PID", words.cleaned, "the processes");
  clean->callback([&options] { options.action.clean.wanted = true; });
  CLI::App* doctor = add("doctor", "[PROGRAM | -p PID]",
                         "say what of djtap works here and with this target, what does not, and "
                         "the way out of each; --json: as one object");
  doctor->add_option("PROGRAM", words.program, "the program, and its arguments");
  doctor->add_flag("--json", options.action.doctor_json, "");
  doctor->callback([&options] { options.action.doctor = true; });
  KernelBuildChoices& build = options.action.kernel_build;
  CLI::App* kernel_build =
      add("kernel-build", "[RELEASE]",
          "build djtap's kernel module for the running kernel, or for RELEASE, and keep it in "
          "/var/cache/djtap, or in the file of -o; prints its path; --headers FOLDER: the headers "
          "to build with");
  kernel_build->add_option("RELEASE", build.release, "the kernel, as uname -r names it");
  kernel_build->add_option("--headers", build.headers, "");
  kernel_build->callback([&build] { build.wanted = true; });
}

// --NAME=VALUE that no option of djtap takes: perhaps the script has one of this name.
void set_script_options(CLI::App& app, Options& options, const std::vector<std::string>& words) {
  for (CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.script.own_names.push_back(name);
  }
  if (options.action.doctor) options.script.own_names.emplace_back("json");
  if (options.action.kernel_build.wanted) options.script.own_names.emplace_back("headers");
  for (const std::string& word : words) {
    size_t equals = word.find('=');
    bool named = word.starts_with("--") && word.size() > 2;
    std::string name =
        named ? word.substr(2, equals == std::string::npos ? equals : equals - 2) : word;
    bool value = named && equals != std::string::npos;
    bool has_script = options.script.text || !options.script.path.empty();
    if (value && has_script && !options.stress.pattern) {
      options.script.named[name] = word.substr(equals + 1);
      continue;
    }
    const std::string rest = equals == std::string::npos ? "" : word.substr(equals);
    UsageError wrong = {"DJ0001", word, "djtap has no option " + word.substr(0, equals), {}, ""};
    for (const std::string& near : near_names(name, options.script.own_names))
      wrong.near.push_back("--" + near + rest);
    if (name == "json") wrong.help = "djtap doctor has it";
    if (name == "headers") wrong.help = "djtap kernel-build has it";
    if (named && !value && has_script)
      wrong.help = "one of the script is written " + word + "=VALUE";
    throw wrong;
  }
}

// All names of the option that CLI11 calls `name`.
std::string names_in(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option == nullptr ? name : names_of_option(*option);
}

// What CLI11 itself finds wrong, in djtap's words.
UsageError usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string said = error.what();
  const size_t colon = said.find(": ");
  const std::string name = said.substr(0, std::min(colon, said.find(' ')));
  const std::string option = names_in(app, name);
  if (said.find(": 1 required ") != std::string::npos)
    return {"DJ0002", option, name + " needs a value behind it", {}, ""};
  if (said.find(": At Most 1 required") != std::string::npos)
    return {"DJ0002", option, name + " is given more than once", {}, ""};
  if (said.find(" disallowed flag override") != std::string::npos) {
    const std::string flag = (name.size() > 1 ? "--" : "-") + name;
    return {"DJ0003", names_in(app, flag), flag + " takes no value", {}, ""};
  }
  return {"DJ0003", option, said, {}, ""};
}

// --help is printed, a mistake is told. Returns the exit code.
int end_parse(const CLI::App& app, const CommandLine& line, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);
    return kExitOk;
  }
  report_usage(line, usage_error(app, error));
  return kExitUsage;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
  Options options;
  Words words;
  options.line = CommandLine(argc, argv);
  set_tell_form({options.line.gives("--diagnostics", "json"),
                 !options.line.gives("--color", "never") && is_coloured(STDERR_FILENO)});
  char** dashes = std::find_if(argv + 1, argv + argc,
                               [](const char* word) { return std::strcmp(word, "--") == 0; });
  if (dashes != argv + argc) options.target.command.assign(dashes + 1, argv + argc);

  CLI::App app{
      "Traces running programs: probes in a SystemTap-like language, no root, no restart.\n"
      "djtap [options] script.djt [args] | -e 'script' [args]   "
      "[-c 'command' | -p PID | -- command args]",
      "djtap"};
  app.footer(
      "Exit codes: 0 done, 1 usage, 2 syntax, 3 wrong script or nothing to probe, 4 cannot "
      "attach,\n"
      "5 script errors at run time, or output that was not taken, 6 doctor: not all works. Of a\n"
      "command that runs (-c, --) its own; 125 djtap failed then, 126 it is not executable, 127 "
      "not found.\n"
      "DJTAP_LOG=engine in the environment: every step in the life of a site, on stderr.");
  app.formatter(help_formatter());
  add_options(app, options, words);
  char** first = std::find_if(argv + 1, dashes, [](const char* word) { return word[0] != '-'; });
  add_commands(app, options, words, first == dashes ? "" : *first);
  app.allow_extras();
  try {
    std::vector<std::string> given = with_named_warnings({argv + 1, dashes});
    std::reverse(given.begin(), given.end());  // CLI11 takes words from the end
    app.parse(std::move(given));
    options.action.script_help = words.help && (options.script.text || !words.positional.empty());
    if (words.help && !options.action.script_help) throw CLI::CallForHelp();
    if (options.action.version) return options;
    set_processes(options, words.processes);
    if (options.action.clean.wanted) set_cleaned(options, words.cleaned);
    take_program(options, std::move(words.program));
    const std::vector<std::string> strangers = without_stap_options(options, app.remaining());
    const bool has_script =
        options.script.text || !words.positional.empty() || !options.script.more.empty();
    if (!has_script) set_script_options(app, options, strangers);  // a wrong one before a missing
    check_together(options, std::move(words.positional));
    if (has_script) set_script_options(app, options, strangers);
  } catch (const CLI::ParseError& error) {
    exit_code = end_parse(app, options.line, error);
    return std::nullopt;
  } catch (const UsageError& wrong) {
    report_usage(options.line, wrong);
    exit_code = wrong.code.starts_with("DJ4") ? kExitAttach : kExitUsage;
    return std::nullopt;
  }
  for (char** word = argv + 1; *word != nullptr; ++word) {
    const bool own = word < dashes && (!strcmp(*word, "-i") || !strcmp(*word, "--interactive"));
    if (!own) options.action.words.emplace_back(*word);
  }
  options.patching.optimize = !words.no_optimize;
  return options;
}

}  // namespace dj
