// SPDX-License-Identifier: Apache-2.0
// Options: the command line, parsed and checked. The only CLI11 room.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "compiler/stages/layout.h"
#include "runtime/command/command_line.h"
#include "runtime/output/output.h"
#include "runtime/output/report_globals.h"

namespace dj {

// Exit codes of what ends before a command runs, or without one. Once it runs, its status is the
// exit code, and kExitOwnFailure stands for failures of djtap's own.
enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 1,
  kExitSyntax = 2,
  kExitScript = 3,   // wrong script, or nothing to probe
  kExitAttach = 4,   // no such process, no permission, target gone while attaching
  kExitRun = 5,      // script errors at run time
  kExitLimited = 6,  // doctor: not all works
  kExitOwnFailure = 125,
  kExitNotExecutable = 126,
  kExitNotFound = 127,
};

enum class Stage : uint8_t { Parse, Check, Resolve, Lower, Patch, All };

struct Options {
  CommandLine line;                                   // for what is wrong with it
  std::optional<std::string> script_text;             // -e
  std::string script_path;                            // else this file
  std::vector<std::string> more_scripts;              // -E: run beside the script
  std::vector<std::string> script_args;               // $1 .. and @1 ..
  std::map<std::string, std::string> script_options;  // --NAME=VALUE that djtap does not know
  std::vector<std::string> own_names;                 // djtap's own long options, without "--"
  std::vector<std::string> settings;                  // -G NAME=VALUE
  bool script_help = false;                           // --help with a script
  std::vector<std::string> include;                   // -I: tapset folders
  bool tidy = false;                                  // --fmt
  std::vector<std::string> command;                   // -c or behind --; empty: none
  std::optional<int> pid;                             // -p, -x
  std::optional<int> clean;                           // clean PID
  bool doctor = false;                                // doctor [PROGRAM]: makes command of it
  bool doctor_json = false;                           // doctor --json
  std::string output_path;                            // -o; empty: stdout
  Rotation rotation;                                  // -S
  std::optional<double> seconds;                      // -T: the session ends then
  bool times = false;                                 // -t
  bool calls = false;                                 // --calls
  bool no_warnings = false;                           // -w: of the script
  bool warnings_are_errors = false;                   // -W: the same
  bool show_globals = true;                           // --no-global-var-display clears it
  std::optional<bool> colour;                         // --color; none: as the terminal is
  bool monitor = false;                               // --monitor; sets times too
  std::optional<std::string> list;                    // -l PATTERN
  bool list_source = false;                           // --source; sets list too
  bool list_variables = false;                        // -L
  std::optional<std::string> explain;                 // --explain CODE
  bool version = false;                               // --version; the rest is not read then
  bool language_server = false;                       // --lsp
  bool interactive = false;                           // -i
  std::vector<std::string> words;                     // all of the command line but -i
  std::optional<std::string> stress;                  // --stress PATTERN: makes script_text
  std::string coverage;                               // --coverage FILE, with --stress
  std::string control_path;                           // --control PATH; empty: none
  bool probes = false;                                // --probes
  bool optimize = true;                               // --no-optimize clears it
  arch::Guards guards = arch::Guards::WhereNeeded;    // --guards
  bool live = false;              // --live: a running target is patched while it runs
  bool thread_rows = true;        // --no-thread-rows
  bool writable_text = false;     // --writable-text
  bool trust_target = false;      // --trust-target: djtap keeps its rights
  bool cache = true;              // --no-cache: analyse all anew, keep nothing
  bool debuginfod = true;         // --no-debuginfod: ask no server
  bool strict = false;            // --strict: no auto-globals
  bool json_diagnostics = false;  // --diagnostics=json
  int verbose = 0;                // -v
  std::set<std::string> dump;     // --dump=tokens,ast,...
  Stage stop_after = Stage::All;
  Limits limits;
  ReportFormat format = ReportFormat::Text;  // -f
  std::string plugin;                        // -f plugin:NAME
  std::string report_path;                   // --report FILE.lua
  bool dry_run = false;                      // -n

  // --many: more places of one pattern are warned of. Each takes some 100 bytes of the target and
  // some microseconds while it stands: ten thousand are a megabyte and a tenth of a second. A large
  // library has fewer functions, so nobody has meant them by chance.
  size_t many = 10'000;
};

// Parses argv. On a usage error or --help prints it and returns the exit code in
// `exit_code` instead of options.
std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace dj
