// SPDX-License-Identifier: Apache-2.0
// What the command line chooses, one struct a concern. Options (options.h) holds one of each; a
// function takes the concerns that it needs, never all of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "compiler/stages/layout.h"
#include "runtime/output/output.h"
#include "runtime/output/report_globals.h"

namespace dj {

// ScriptChoices: the script's text, what it is given, and where its tapsets lie.
struct ScriptChoices {
  std::optional<std::string> text;           // -e
  std::string path;                          // else this file
  std::vector<std::string> more;             // -E: run beside the script
  std::vector<std::string> arguments;        // $1 .. and @1 ..
  std::map<std::string, std::string> named;  // --NAME=VALUE that djtap does not know
  std::vector<std::string> own_names;        // djtap's own long options, without "--"
  std::vector<std::string> settings;         // -G NAME=VALUE
  std::vector<std::string> tapsets;          // -I: folders
  bool strict = false;                       // --strict: no auto-globals
};

// TargetChoices: the process that is probed, and what djtap trusts it with.
struct TargetChoices {
  std::vector<std::string> command;  // -c or behind --; empty: none
  std::optional<int> pid;            // -p, -x
  bool trusted = false;              // --trust-target: djtap keeps its rights
  bool writable_text = false;        // --writable-text

  bool is_given() const { return pid || !command.empty(); }
};

// PatchingChoices: how the target's code is changed.
struct PatchingChoices {
  bool optimize = true;                             // --no-optimize clears it
  arch::Guards guards = arch::Guards::WhereNeeded;  // --guards
  bool live = false;        // --live: a running target is patched while it runs
  bool thread_rows = true;  // --no-thread-rows clears it
};

// FileChoices: files beside the target's own that djtap may read or write.
struct FileChoices {
  bool cache = true;       // --no-cache: analyse all anew, keep nothing
  bool debuginfod = true;  // --no-debuginfod: ask no server
};

// ReportChoices: what a session writes while it runs and at its end, and where to.
struct ReportChoices {
  std::string output_path;                   // -o; empty: stdout
  Rotation rotation;                         // -S
  ReportFormat format = ReportFormat::Text;  // -f
  std::string plugin;                        // -f plugin:NAME
  std::string lua_path;                      // --report FILE.lua
  bool times = false;                        // -t
  bool calls = false;                        // --calls
  bool show_globals = true;                  // --no-global-var-display clears it
};

// MessageChoices: which diagnostics are printed, and how.
struct MessageChoices {
  bool no_warnings = false;          // -w: of the script
  bool warnings_are_errors = false;  // -W: the same
  std::optional<bool> colour;        // --color; none: as the terminal is
  bool json = false;                 // --diagnostics=json

  // --many: more places of one pattern are warned of. Each takes some 100 bytes of the target and
  // some microseconds while it stands: ten thousand are a megabyte and a tenth of a second. A large
  // library has fewer functions, so such a number is hardly ever meant.
  size_t many = 10'000;
};

enum class Stage : uint8_t { Parse, Check, Resolve, Lower, Patch, All };

// StageChoices: how far the stages run, and what they print of themselves.
struct StageChoices {
  std::set<std::string> dump;  // --dump=tokens,ast,...
  Stage stop_after = Stage::All;
  bool probes = false;  // --probes
  int verbose = 0;      // -v
};

// SessionChoices: what steers a session while it runs, and what ends it.
struct SessionChoices {
  std::optional<double> seconds;  // -T: the session ends then
  std::string control_path;       // --control PATH; empty: none
  bool monitor = false;           // --monitor; sets ReportChoices::times too
  Limits limits;                  // -D

  // Whether probes may be switched from outside of the script.
  bool is_steered() const { return !control_path.empty() || monitor; }
};

// StressChoices: every function is counted, and the engine is reported.
struct StressChoices {
  std::optional<std::string> pattern;  // --stress PATTERN: makes ScriptChoices::text
  std::string coverage;                // --coverage FILE, with --stress

  bool is_on() const { return pattern.has_value(); }
};

// ListChoices: what is listed instead of a session.
struct ListChoices {
  std::optional<std::string> pattern;  // -l PATTERN
  bool source = false;                 // --source; sets the pattern too
  bool variables = false;              // -L
};

// ActionChoices: what djtap does, where that is no session of a script.
struct ActionChoices {
  std::optional<int> clean;            // clean PID
  bool doctor = false;                 // doctor [PROGRAM]: makes TargetChoices::command of it
  bool doctor_json = false;            // doctor --json
  std::optional<std::string> explain;  // --explain CODE
  bool version = false;                // --version; the rest is not read then
  bool language_server = false;        // --lsp
  bool interactive = false;            // -i
  std::vector<std::string> words;      // all of the command line but -i
  bool tidy = false;                   // --fmt
  bool script_help = false;            // --help with a script
  bool dry_run = false;                // -n
};

}  // namespace dj
