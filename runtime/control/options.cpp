// The command line: what stap(1) users know (-e -c -p -x -o -l -L -v -D), and djtap's own.
#include "runtime/control/options.h"

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "compiler/diag.h"
#include "runtime/control/command_words.h"
#include "runtime/control/set_limit.h"
#include "runtime/control/stap_options.h"
#include "runtime/control/stress.h"

namespace dj {
namespace {

// CLI11's own check names the range of a double.
std::string above_zero(const std::string& text) {
  bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  bool zero = text.find_first_not_of('0') == std::string::npos;
  constexpr size_t kMostDigits = 9;
  if (digits && !zero && text.size() <= kMostDigits) return "";
  if (text.find(',') != std::string::npos)
    return "takes one process, not " + text +
           ": start one djtap for each, or with -c what forks them";
  return "takes a whole number above 0, not " + text;
}

std::string positive(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  bool whole = !text.empty() && *end == 0 && value > 0 && value < 1e9;
  return whole ? "" : "takes a number of seconds above 0, not " + text;
}

// For an option that takes one of some words: sets `into`, or throws a usage error.
template <class T>
auto one_of(const char* option, const std::map<std::string, T>& words, T& into) {
  return [option, &words, &into](const std::string& word) {
    auto found = words.find(word);
    if (found != words.end()) {
      into = found->second;
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : words) names.push_back(name);
    throw CLI::ValidationError(option,
                               fmt::format("takes {}; not {}", fmt::join(names, ", "), word));
  };
}

constexpr const char* kVersion = "djtap 0.1";
const std::set<std::string> kDumps = {"tokens", "ast", "program", "plan", "ir", "asm", "probes"};
const std::map<std::string, arch::Guards> kGuards = {{"needed", arch::Guards::WhereNeeded},
                                                     {"all", arch::Guards::Everywhere},
                                                     {"none", arch::Guards::None}};
const std::map<std::string, Stage> kStages = {{"parse", Stage::Parse},
                                              {"check", Stage::Check},
                                              {"resolve", Stage::Resolve},
                                              {"lower", Stage::Lower}};
const std::map<std::string, ReportFormat> kFormats = {
    {"text", ReportFormat::Text}, {"json", ReportFormat::Json}, {"csv", ReportFormat::Csv}};

void set_command(Options& options, const std::string& text) {
  options.command = {text};  // what is wrong with it is djtap's failure, not the command's
  Result<std::vector<std::string>> words = command_words(text);
  if (!words.ok()) throw CLI::ValidationError("-c", words.error().message);
  options.command = words.take();
}

void set_dumps(Options& options, const std::string& list) {
  for (const std::string& name : CLI::detail::split(list, ',')) {
    if (!kDumps.count(name))
      throw CLI::ValidationError("--dump",
                                 "takes tokens, ast, program, plan, ir, asm, probes; not " + name);
    options.dump.insert(name);
  }
}

void set_format(Options& options, const std::string& form) {
  constexpr std::string_view kPlugin = "plugin:";
  auto found = kFormats.find(form);
  if (found != kFormats.end()) {
    options.format = found->second;
  } else if (form.starts_with(kPlugin) && form.size() > kPlugin.size()) {
    options.plugin = form.substr(kPlugin.size());
  } else {
    throw CLI::ValidationError("-f", "takes text, json, csv or plugin:NAME; not " + form);
  }
}

// -S MB[,FILES]
void set_rotation(Options& options, const std::string& text) {
  char* end = nullptr;
  uint64_t megabytes = std::strtoull(text.c_str(), &end, 10), files = 0;
  bool wrong = text[0] == '-' || megabytes == 0 || megabytes > 1 << 20;
  if (*end == ',') {
    files = std::strtoull(end + 1, &end, 10);
    wrong = wrong || files == 0 || files > 1 << 20;
  }
  if (wrong || *end != 0)
    throw CLI::ValidationError("-S", "takes MEGABYTES or MEGABYTES,FILES; not " + text);
  options.rotation = {megabytes << 20, static_cast<uint32_t>(files)};
}

// --stress writes the script itself; with --coverage there is neither script nor process.
void check_stress(Options& options, const std::vector<std::string>& words) {
  if (!options.stress) {
    if (!options.coverage.empty()) throw CLI::ValidationError("--coverage", "goes with --stress");
    return;
  }
  if (options.script_text || options.list || !words.empty())
    throw CLI::ValidationError("--stress", "goes with neither a script nor -l");
  bool has_target = options.pid || !options.command.empty();
  if (has_target != options.coverage.empty()) {
    throw CLI::ValidationError(
        "--stress", "needs a process (-c, -p or --), or --coverage FILE without a process");
  }
  if (options.stress->find_first_of("\"\\\n") != std::string::npos)
    throw CLI::ValidationError("--stress", "takes a pattern of functions: \"libc.so.6!*\"");
  options.script_text = stress_script(options.stress->empty() ? "*" : *options.stress);
  widen_for_stress(options.limits);
}

// --color[=WHEN] as stap has it. False: it is another option.
bool set_colour(Options& options, const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  if (name != "--color" && name != "--colour") return false;
  std::string when = word.size() == name.size() ? "always" : word.substr(name.size() + 1);
  if (when != "always" && when != "never" && when != "auto")
    throw CLI::ValidationError(name, "takes always, never or auto; not " + when);
  if (when != "auto") options.colour = when == "always";
  return true;
}

// Words that no option of djtap takes: SystemTap's options are answered here, or taken where they
// change nothing. Returns the others.
std::vector<std::string> without_stap_options(Options& options,
                                              const std::vector<std::string>& words) {
  std::vector<std::string> others;
  for (const std::string& word : words) {
    if (set_colour(options, word)) continue;
    const StapOption* row = stap_option(word);
    if (row == nullptr) {
      others.push_back(word);
    } else if (!row->help.empty()) {
      throw CLI::ArgumentMismatch(
          fmt::format("SystemTap's option {} is not djtap's; {}", row->name, row->help));
    }
  }
  return others;
}

// stap's -p is a number of its passes.
void check_process(const Options& options) {
  constexpr int kPasses = 5;
  if (!options.pid) return;
  if (!options.command.empty())
    throw CLI::ValidationError("-p", "goes with neither -c nor --: one target a session");
  if (*options.pid <= kPasses && kill(*options.pid, 0) != 0)
    throw CLI::ValidationError(
        "-p", fmt::format("takes a process, as -x; {} is none of yours. For a pass of SystemTap's: "
                          "--stop-after=STAGE",
                          *options.pid));
}

// Everything that no single option can know.
void check_together(Options& options, std::vector<std::string> words) {
  if (options.clean) return;
  check_stress(options, words);
  check_process(options);
  if (!options.script_text && words.empty() && !options.more_scripts.empty()) {
    options.script_text = options.more_scripts.front();
    options.more_scripts.erase(options.more_scripts.begin());
  }
  const bool asks = options.list || options.explain || options.language_server;
  if (options.interactive && options.script_text)
    throw CLI::ValidationError("-i", "takes the script at its prompt: load FILE");
  if (!options.script_text && !asks && !options.interactive) {
    if (words.empty())
      throw CLI::ValidationError("script", "a script is needed: a file, or -e 'probe ...'");
    options.script_path = words.front();
    options.strict = options.strict || options.script_path.ends_with(".stp");
    words.erase(words.begin());
  }
  options.script_args = std::move(words);
  if (options.monitor && (!options.plugin.empty() || options.stress))
    throw CLI::ValidationError("--monitor", "goes with neither -f plugin: nor --stress");
  options.times = options.times || options.monitor;
  if (options.rotation.bytes > 0 && options.output_path.empty())
    throw CLI::ValidationError("-S", "goes with -o FILE");
}

// What CLI11 fills besides Options.
struct Words {
  std::vector<std::string> positional;  // script file and its arguments
  bool no_optimize = false;
  std::string diagnostics = "text";
  bool help = false;
};

void add_script_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("-e", options.script_text, "the script itself");
  app.add_option("-E", options.more_scripts, "a script that runs beside the other one")
      ->allow_extra_args(false);
  app.add_option("script", words.positional,
                 "script file (unless -e or -l), then its arguments $1 ..");
  app.add_option("-I", options.include, "look for tapsets (*.djt, *.djtm) in this folder, too")
      ->check(CLI::ExistingDirectory)
      ->allow_extra_args(false);
  app.add_flag("--fmt", options.tidy, "print the script in tidy form, comments kept; run nothing");
  app.add_option("-G", options.settings, "NAME=VALUE: the initial value of a global of the script")
      ->allow_extra_args(false);
  app.add_flag("--strict", options.strict,
               "undeclared names are local, as in SystemTap; so they are in FILE.stp");
  app.add_option_function<std::vector<std::string>>(
         "-D",
         [&options](const std::vector<std::string>& settings) {
           for (const std::string& each : settings) {
             const std::string wrong = set_limit(options.limits, each);
             if (!wrong.empty()) throw CLI::ValidationError("-D", wrong);
           }
         },
         "a limit, NAME=VALUE: MAXACTION, MAXMAPENTRIES ...")
      ->allow_extra_args(false);
}

// stap's options that are others of djtap's, said differently. Not in --help: djtap(1) has them.
void add_stap_options(CLI::App& app, Options& options) {
  const auto unlisted = [](CLI::Option* option) { option->group("")->allow_extra_args(false); };
  constexpr int64_t kNever = 1 << 30;
  unlisted(app.add_option_function<std::string>(
      "--compatible", [&options](const std::string&) { options.strict = true; }, ""));
  unlisted(app.add_option_function<std::vector<std::string>>(
      "-d", [](const std::vector<std::string>&) {}, ""));  // all objects' symbols are read
  unlisted(app.add_option_function<std::string>(
      "-s",
      [&options](const std::string& text) {
        char* end = nullptr;
        const long long megabytes = std::strtoll(text.c_str(), &end, 10);
        if (*end != 0 || megabytes < 1 || megabytes > 64)
          throw CLI::ValidationError("-s", "takes 1 to 64 megabytes, as -D RINGBYTES does bytes");
        options.limits.ring_bytes = static_cast<int64_t>(std::bit_ceil(uint64_t(megabytes) << 20));
      },
      ""));
  unlisted(app.add_option_function<std::string>(
      "--vp",
      [&options](const std::string& levels) {
        options.verbose += levels.find_first_not_of('0') != std::string::npos;
      },
      ""));
  unlisted(app.add_flag("!--disable-cache,!--poison-cache", options.cache, ""));
  unlisted(app.add_flag_callback(
      "--suppress-handler-errors", [&options] { options.limits.max_errors = 0; }, ""));
  unlisted(app.add_flag_callback(
      "--suppress-time-limits",
      [&options] { options.limits.max_action = options.limits.max_action_host = kNever; }, ""));
}

void add_target_options(CLI::App& app, Options& options, Words& words) {
  app.add_option_function<std::string>(
      "-c", [&options](const std::string& text) { set_command(options, text); },
      "run this command and trace it");
  app.add_option("-p,-x", options.pid, "trace this running process")->check(above_zero);
  app.add_option("-l", options.list,
                 "list the probe points that match, one a line: func(\"m*\"), syscall.*, **");
  app.add_option_function<std::string>(
      "-L",
      [&options](const std::string& text) {
        options.list = text;
        options.list_variables = true;
      },
      "the same with parameters, locals and their types");
  app.add_option_function<std::string>(
         "--source",
         [&options](const std::string& text) {
           bool name = text.find_first_of("\"\\\n") == std::string::npos;
           if (!name)
             throw CLI::ValidationError("--source", "takes a function, as in func(\"...\")");
           options.list = "func(\"" + text + "\")";
           options.list_source = true;
         },
         "print the source of a function, with the lines that can be probed and their variables")
      ->option_text("FUNC");
  app.add_option("--stress", options.stress,
                 "count every function (that matches, as in func(\"...\")) and report the engine")
      ->expected(0, 1);
  app.add_option("--coverage", options.coverage,
                 "with --stress: how this file's functions could be probed; no process");
  app.add_option("--control", options.control_path,
                 "a UNIX stream socket at this path takes commands while the session runs, one a "
                 "line: list, enable N|GLOB, disable N|GLOB")
      ->option_text("PATH");
  app.add_flag("--no-optimize", words.no_optimize, "int3 at every site, no jumps");
  app.add_option_function<std::string>(
         "--guards", one_of("--guards", kGuards, options.guards),
         "which of the instructions that a jump covers are kept as int3: needed, those where "
         "somebody may arrive; all; or none: plain jumps only")
      ->option_text("WHICH");
  app.add_flag("--live", options.live,
               "with -p: patch text while the program runs, all its threads standing only to be "
               "moved out of it; needs a SIGTRAP action in the program");
  app.add_flag("!--no-thread-rows", options.thread_rows,
               "count by calls of handlers: for programs that use their threads' gs base");
  app.add_flag("!--no-cache", options.cache,
               "neither use nor keep analyses of modules in ~/.cache/djtap");
}

void add_output_options(CLI::App& app, Options& options) {
  app.add_option(
         "-o", options.output_path,
         "write the script's output to this file; a script's switch_file() goes on in FILE.1, "
         "FILE.2 ..")
      ->option_text("FILE");
  app.add_option_function<std::string>(
         "-S", [&options](const std::string& text) { set_rotation(options, text); },
         "with -o: begin FILE.1, FILE.2 .. when FILE.0 would get larger than so many megabytes; "
         "keep the "
         "newest FILES")
      ->option_text("MB[,FILES]");
  app.add_option("-T", options.seconds, "end the session after so many seconds")
      ->check(positive)
      ->option_text("SECONDS");
  app.add_flag(
      "-t,--times", options.times,
      "at the end: hits of each probe, those whose handler did not run to its end (skips), "
      "and the least, average and longest time of the others; warnings say the reasons");
  app.add_flag(
      "--monitor", options.monitor,
      "show probes, globals and output on the terminal while the session runs; keys switch "
      "probes, sort, count from 0 and quit; with -o the output goes to the file instead");
  app.add_flag("-n,--dry-run", options.dry_run,
               "say which sites would be armed and how; -c's command is killed before it runs");
  app.add_option_function<std::string>(
         "-f,--format", [&options](const std::string& form) { set_format(options, form); },
         "form of the globals shown at the end: text, json or csv; plugin:NAME: all output by a "
         "Lua plugin: chrome, csv, flame, json, prometheus, or a file NAME.lua")
      ->option_text("FORM");
  app.add_flag("!--no-global-var-display", options.show_globals,
               "globals that no handler reads are not printed at the end");
  app.add_flag("-w", options.no_warnings, "print no warnings of the script");
  app.add_flag("-W", options.warnings_are_errors,
               "warnings of the script end it; -W undeclared: --strict");
  app.add_option("--many", options.many,
                 "warn where a pattern means more places than this (10000; 0: never)");
  app.add_option("--report", options.report_path,
                 "a Lua file that gets all globals at the end and prints the report")
      ->option_text("FILE.lua");
}

void add_look_options(CLI::App& app, Options& options, Words& words) {
  app.add_flag("--probes", options.probes, "list every site with its state when armed");
  app.add_flag("-v,--verbose", options.verbose, "print milliseconds per stage");
  app.add_option_function<std::string>(
      "--dump", [&options](const std::string& list) { set_dumps(options, list); },
      "print a stage's data: tokens,ast,program,plan,ir,asm,probes");
  app.add_option_function<std::string>("--stop-after",
                                       one_of("--stop-after", kStages, options.stop_after),
                                       "parse, check, resolve or lower")
      ->option_text("STAGE");
  app.add_option("--diagnostics", words.diagnostics,
                 "form of diagnostics: text, or json (one object a line)")
      ->check([](const std::string& form) {
        return form == "text" || form == "json" ? "" : "takes json, text; not " + form;
      });
  app.add_option("--explain", options.explain,
                 "say what a diagnostic's code means, with an example");
  app.add_flag("-i,--interactive", options.interactive,
               "a script that grows at a prompt: help there names the commands");
  app.add_flag("--lsp,--language-server", options.language_server,
               "a language server for editors (LSP) on standard input and output");
  app.set_version_flag("-V,--version", kVersion);
}

// --NAME=VALUE that no option of djtap takes: perhaps the script has one of this name.
void set_script_options(CLI::App& app, Options& options, const std::vector<std::string>& words) {
  for (CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.own_names.push_back(name);
  }
  for (const std::string& word : words) {
    size_t equals = word.find('=');
    bool named = word.starts_with("--") && word.size() > 2;
    std::string name =
        named ? word.substr(2, equals == std::string::npos ? equals : equals - 2) : word;
    bool value = named && equals != std::string::npos;
    bool has_script = options.script_text || !options.script_path.empty();
    if (value && has_script && !options.stress) {
      options.script_options[name] = word.substr(equals + 1);
      continue;
    }
    std::string message = "djtap has no option " + word.substr(0, equals);
    std::vector<std::string> near = near_names(name, options.own_names);
    for (std::string& each : near) each = "--" + each;
    if (!near.empty())
      message += "; " + did_you_mean(near);
    else if (named && !value && has_script)
      message += "; one of the script is written " + word + "=VALUE";
    throw CLI::ArgumentMismatch(message);
  }
}

// --help and --version are printed, a mistake goes to stderr. Returns the exit code.
int end_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);
    return kExitOk;
  }
  std::string message = error.what();
  if (const size_t at = message.find(": 1 required "); at != std::string::npos)
    message = message.substr(0, at) + ": a value is missing behind it";
  if (const size_t at = message.find(": At Most 1 required"); at != std::string::npos)
    message = message.substr(0, at) + ": it is given more than once";
  fmt::print(stderr, "djtap: {}\ndjtap: see djtap --help\n", message);
  return kExitUsage;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
  Options options;
  Words words;
  char** dashes = std::find_if(argv + 1, argv + argc,
                               [](const char* word) { return std::strcmp(word, "--") == 0; });
  if (dashes != argv + argc) options.command.assign(dashes + 1, argv + argc);

  CLI::App app{
      "Traces running programs: probes in a SystemTap-like language, no root, no restart.\n"
      "djtap [options] script.djt [args] | -e 'script' [args]   "
      "[-c 'command' | -p PID | -- command args]",
      "djtap"};
  app.footer(
      "Exit codes: 0 done, 1 usage, 2 syntax, 3 wrong script or nothing to probe, 4 cannot "
      "attach,\n"
      "5 script errors at run time, or output that was not taken. Of a command that runs (-c, --) "
      "its\nown; 125 djtap failed then, 126 it is not executable, 127 not found.\n"
      "DJTAP_LOG=engine in the environment: every step in the life of a site, on stderr.");
  add_script_options(app, options, words);
  add_target_options(app, options, words);
  add_output_options(app, options);
  add_look_options(app, options, words);
  add_stap_options(app, options);
  app.add_subcommand("clean", "take out what a killed djtap left in a process and its children")
      ->add_option("PID", options.clean, "the process")
      ->required()
      ->check(above_zero);
  app.set_help_flag();
  app.add_flag("-h,--help", words.help, "print this help; with a script: also its options");
  app.allow_extras();
  try {
    std::vector<std::string> given = with_named_warnings({argv + 1, dashes});
    std::reverse(given.begin(), given.end());  // CLI11 takes words from the end
    app.parse(std::move(given));
    options.script_help = words.help && (options.script_text || !words.positional.empty());
    if (words.help && !options.script_help) throw CLI::CallForHelp();
    const std::vector<std::string> strangers = without_stap_options(options, app.remaining());
    check_together(options, std::move(words.positional));
    set_script_options(app, options, strangers);
  } catch (const CLI::ParseError& error) {
    exit_code = end_parse(app, error);
    return std::nullopt;
  }
  for (char** word = argv + 1; *word != nullptr; ++word) {
    const bool own = word < dashes && (!strcmp(*word, "-i") || !strcmp(*word, "--interactive"));
    if (!own) options.words.emplace_back(*word);
  }
  options.optimize = !words.no_optimize;
  options.json_diagnostics = words.diagnostics == "json";
  return options;
}

}  // namespace dj
