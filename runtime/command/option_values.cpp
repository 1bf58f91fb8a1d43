// SPDX-License-Identifier: Apache-2.0
// Each option's values are verdicts before anything is done.
#include "runtime/command/option_values.h"

#include <signal.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "runtime/command/command_words.h"
#include "runtime/command/process_words.h"
#include "runtime/command/set_limit.h"
#include "runtime/command/stap_options.h"
#include "runtime/command/stress_script.h"

namespace dj {
namespace {

const std::vector<std::string> kDumps = {"tokens", "ast",     "program", "plan",  "ir",
                                         "asm",    "patches", "detours", "probes"};
const std::map<std::string, ReportFormat> kFormats = {
    {"text", ReportFormat::Text}, {"json", ReportFormat::Json}, {"csv", ReportFormat::Csv}};

bool is_whole(const std::string& text) {
  constexpr size_t kMostDigits = 9;
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

// value: what is refused of the option, as it was given.
[[noreturn]] void refuse(const std::string& option, const std::string& message,
                         const std::string& value) {
  throw UsageError{"DJ0003", option, option.substr(0, option.find(',')) + " " + message,
                   {},       "",     value};
}

[[noreturn]] void refuse_together(const std::string& option, const std::string& message) {
  throw UsageError{"DJ0004", option, option.substr(0, option.find(',')) + " " + message, {}, ""};
}

// How one types an option with its value.
std::string typed(const std::string& option, const std::string& value) {
  return option + (option.starts_with("--") ? "=" : " ") + value;
}

// --stress writes the script itself; with --coverage there is neither script nor process.
void check_stress(Options& options, const std::vector<std::string>& words) {
  if (!options.stress.pattern) {
    if (!options.stress.coverage.empty()) refuse_together("--coverage", "goes with --stress");
    return;
  }
  if (options.script.text || options.list.pattern || !words.empty())
    refuse_together("--stress", "goes with neither a script nor -l");
  const bool is_kernel = stresses_kernel(*options.stress.pattern);
  const bool has_target = options.target.is_given() || is_kernel;
  if (has_target != options.stress.coverage.empty())
    refuse_together("--stress",
                    "needs a process (-c, -p or --) or \"kernel\", or --coverage FILE "
                    "without a process");
  if (options.stress.pattern->find_first_of("\"\\\n") != std::string::npos)
    refuse("--stress", "takes a pattern of functions: \"libc.so.6!*\"", *options.stress.pattern);
  options.script.text =
      stress_script(options.stress.pattern->empty() ? "*" : *options.stress.pattern);
  widen_for_stress(options.session.limits);
}

// --color[=WHEN] as stap has it. False: it is another option.
bool set_colour(Options& options, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (name != "--color" && name != "--colour") return false;
  const std::string when = word.size() == name.size() ? "always" : word.substr(name.size() + 1);
  if (when != "always" && when != "never" && when != "auto")
    throw not_taken(name, "always, never or auto", when, {"always", "never", "auto"});
  if (when != "auto") options.messages.colour = when == "always";
  return true;
}

// stap's -p is a number of its passes.
void check_process(const Options& options) {
  constexpr int kPasses = 5;
  const std::vector<pid_t>& pids = options.target.pids;
  if (pids.empty()) return;
  if (!options.target.command.empty()) refuse_together("-p,-x", "goes with neither -c nor --");
  check_one_process(options);
  if (pids.size() == 1 && pids.front() <= kPasses && kill(pids.front(), 0) != 0)
    refuse("-p,-x",
           fmt::format("takes a process, as -x; {} is none of yours. For a pass of "
                       "SystemTap's: --stop-after=STAGE",
                       pids.front()),
           std::to_string(pids.front()));
}

// Commands that stand alone.
void check_alone(const Options& options, const std::string& command) {
  const bool asks = options.list.pattern || options.action.explain || options.stress.pattern ||
                    options.action.interactive || options.action.language_server ||
                    options.action.tidy;
  if (asks || options.script.text || !options.script.more.empty())
    refuse_together(command, "takes no script, and nothing else that one may ask for");
}

void check_doctor(const Options& options) {
  check_process(options);
  check_alone(options, "doctor");
}

// The release becomes a part of paths.
void check_kernel_build(const Options& options) {
  const std::string& release = options.action.kernel_build.release;
  check_alone(options, "kernel-build");
  if (options.target.is_given()) refuse_together("kernel-build", "takes a kernel, and no program");
  if (release.find('/') != std::string::npos || release.starts_with('.'))
    refuse("kernel-build", "takes a kernel's release, as uname -r names it; not " + release,
           release);
}

}  // namespace

UsageError not_taken(const std::string& option, const std::string& takes, const std::string& value,
                     const std::vector<std::string>& others) {
  const std::string name = option.substr(0, option.find(','));
  UsageError wrong = {"DJ0003", option, fmt::format("{} takes {}; not {}", name, takes, value),
                      {},       "",     value};
  for (const std::string& near : near_names(value, others)) wrong.near.push_back(typed(name, near));
  return wrong;
}

void check_whole(const std::string& option, const std::string& text) {
  if (!is_whole(text)) refuse(option, "takes a whole number, not " + text, text);
}

void check_seconds(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(value > 0 && value < 1e9))
    refuse("-T", "takes a number of seconds above 0, not " + text, text);
}

void check_folder(const std::string& text) {
  std::error_code none;
  if (!std::filesystem::is_directory(text, none))
    refuse("-I", fmt::format("takes a folder of tapsets; {} is none", text), text);
}

void set_command(Options& options, const std::string& text) {
  options.target.command = {text};  // what is wrong with it is djtap's failure, not the command's
  Result<std::vector<std::string>> words = command_words(text);
  if (!words.ok()) throw UsageError{"DJ0003", "-c", words.error().message, {}, "", text};
  options.target.command = words.take();
}

void set_dumps(Options& options, const std::string& list) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (std::find(kDumps.begin(), kDumps.end(), name) == kDumps.end())
      throw not_taken("--dump", fmt::format("{}", fmt::join(kDumps, ", ")), name, kDumps);
    options.stages.dump.insert(name);
  }
}

void set_format(Options& options, const std::string& form) {
  constexpr std::string_view kPlugin = "plugin:";
  auto found = kFormats.find(form);
  if (found != kFormats.end()) {
    options.report.format = found->second;
  } else if (form.starts_with(kPlugin) && form.size() > kPlugin.size()) {
    options.report.plugin = form.substr(kPlugin.size());
  } else {
    throw not_taken("-f,--format", "text, json, csv or plugin:NAME", form, {"text", "json", "csv"});
  }
}

void set_rotation(Options& options, const std::string& text) {
  char* end = nullptr;
  uint64_t megabytes = std::strtoull(text.c_str(), &end, 10), files = 0;
  bool wrong = text[0] == '-' || megabytes == 0 || megabytes > 1 << 20;
  if (*end == ',') {
    files = std::strtoull(end + 1, &end, 10);
    wrong = wrong || files == 0 || files > 1 << 20;
  }
  if (wrong || *end != 0) throw not_taken("-S", "MEGABYTES or MEGABYTES,FILES", text);
  options.report.rotation = {megabytes << 20, static_cast<uint32_t>(files)};
}

void set_ring(Options& options, const std::string& text) {
  char* end = nullptr;
  const long long megabytes = std::strtoll(text.c_str(), &end, 10);
  if (*end != 0 || megabytes < 1 || megabytes > 64)
    refuse("-s", "takes 1 to 64 megabytes, as -D RINGBYTES does bytes", text);
  options.session.limits.ring_bytes =
      static_cast<int64_t>(std::bit_ceil(uint64_t(megabytes) << 20));
}

void set_source(Options& options, const std::string& text) {
  if (text.find_first_of("\"\\\n") != std::string::npos)
    refuse("--source", "takes a function, as in func(\"...\")", text);
  options.list.pattern = "func(\"" + text + "\")";
  options.list.source = true;
}

void set_limits(Options& options, const std::vector<std::string>& settings) {
  for (const std::string& each : settings) set_limit(options.session.limits, each);
}

std::vector<std::string> without_stap_options(Options& options,
                                              const std::vector<std::string>& words) {
  std::vector<std::string> others;
  for (const std::string& word : words) {
    if (set_colour(options, word)) continue;
    const StapOption* row = stap_option(word);
    if (row == nullptr) {
      others.push_back(word);
    } else if (!row->help.empty()) {
      throw UsageError{"DJ0005",
                       word,
                       fmt::format("SystemTap's option {} is not djtap's", row->name),
                       {},
                       std::string(row->help)};
    }
  }
  return others;
}

void take_program(Options& options, std::vector<std::string> program) {
  if (program.empty()) return;
  if (options.target.is_given())
    refuse_together("doctor", "takes one target: a program, -p PID, -c or --");
  options.target.command = std::move(program);
}

void check_together(Options& options, std::vector<std::string> words) {
  if (options.action.clean.wanted) return;
  if (options.action.doctor) return check_doctor(options);
  if (options.action.kernel_build.wanted) return check_kernel_build(options);
  check_stress(options, words);
  check_process(options);
  if (!options.script.text && words.empty() && !options.script.more.empty()) {
    options.script.text = options.script.more.front();
    options.script.more.erase(options.script.more.begin());
  }
  const bool asks =
      options.list.pattern || options.action.explain || options.action.language_server;
  if (options.action.interactive && options.script.text)
    refuse_together("-i,--interactive", "takes the script at its prompt: load FILE");
  if (!options.script.text && !asks && !options.action.interactive) {
    if (words.empty())
      throw UsageError{"DJ0006", "", "a script is needed: a file, or -e 'probe ...'", {}, ""};
    options.script.path = words.front();
    options.script.strict = options.script.strict || options.script.path.ends_with(".stp");
    words.erase(words.begin());
  }
  options.script.arguments = std::move(words);
  if (options.session.monitor && (!options.report.plugin.empty() || options.stress.pattern))
    refuse_together("--monitor", "goes with neither -f plugin: nor --stress");
  options.report.times = options.report.times || options.session.monitor;
  options.report.by_process = options.target.follow || options.target.pids.size() != 1;
  if (options.report.rotation.bytes > 0 && options.report.output_path.empty())
    refuse_together("-S", "goes with -o FILE");
}

}  // namespace dj
