// SPDX-License-Identifier: Apache-2.0
// The structs of this file hold what the command line chooses, one struct for each concern. Options
// (options.h) holds one of each. A function takes only the concerns that it needs.
#pragma once
#include <sys/types.h>

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

// ScriptChoices holds the script's text, its arguments and settings, and where its tapsets lie.
struct ScriptChoices {
  std::optional<std::string> text;           // -e
  std::string path;                          // else this file
  std::vector<std::string> more;             // -E: run beside the script
  std::vector<std::string> arguments;        // $1 .. and @1 ..
  std::map<std::string, std::string> named;  // --NAME=VALUE that is no option of djtap
  std::vector<std::string> own_names;        // djtap's own long options, without "--"
  std::vector<std::string> settings;         // -G NAME=VALUE
  std::vector<std::string> tapsets;          // -I: folders
  bool strict = false;                       // --strict: no auto-globals
};

// TargetChoices names the processes that djtap probes, and what djtap trusts them with.
struct TargetChoices {
  std::vector<std::string> command;  // -c or behind --; empty: none
  std::vector<pid_t> pids;           // -p, -x: each once, in the order of the words; empty: none
  bool follow = true;          // --no-follow clears it: what descendants execute is left alone
  bool trusted = false;        // --trust-target: djtap keeps its rights
  bool writable_text = false;  // --writable-text
  bool is_by_script = false;   // the points of the script have named `pids`, and -p has not

  bool is_given() const { return !pids.empty() || !command.empty(); }
  // The process of -p that target() is; empty: -p is not given.
  std::optional<pid_t> first_pid() const {
    return pids.empty() ? std::nullopt : std::optional(pids.front());
  }
};

// PatchingChoices says how djtap changes the target's code.
struct PatchingChoices {
  bool optimize = true;                             // --no-optimize clears it
  arch::Guards guards = arch::Guards::WhereNeeded;  // --guards
  bool live = false;        // --live: djtap patches a running target while it runs
  bool thread_rows = true;  // --no-thread-rows clears it
};

// FileChoices says which files djtap may read or write beside the target's own.
struct FileChoices {
  bool cache = true;       // --no-cache: analyse all anew, keep nothing
  bool debuginfod = true;  // --no-debuginfod: ask no server
};

// ReportChoices says what a session writes while it runs and at its end, and where to.
struct ReportChoices {
  std::string output_path;                   // -o; empty: stdout
  Rotation rotation;                         // -S
  ReportFormat format = ReportFormat::Text;  // -f
  std::string plugin;                        // -f plugin:NAME
  std::string lua_path;                      // --report FILE.lua
  bool times = false;                        // -t
  bool by_process = false;                   // with -t: the session may have several processes
  bool calls = false;                        // --calls
  bool show_globals = true;                  // --no-global-var-display clears it
};

// MessageChoices says which diagnostics djtap prints, and how.
struct MessageChoices {
  bool no_warnings = false;          // -w: of the script
  bool warnings_are_errors = false;  // -W: of the script
  std::optional<bool> colour;        // --color; none: as the terminal is
  bool json = false;                 // --diagnostics=json

  // --many: djtap warns if one pattern means more places. Each place takes some 100 bytes of the
  // target, and some microseconds while the target is stopped: ten thousand take a megabyte and a
  // tenth of a second. A large library has fewer functions, so users hardly ever mean such a
  // number.
  size_t many = 10'000;
};

enum class Stage : uint8_t { Parse, Check, Resolve, Lower, Patch, All };

// StageChoices says how far the stages run, and what they print of themselves.
struct StageChoices {
  std::set<std::string> dump;  // --dump=tokens,ast,...
  Stage stop_after = Stage::All;
  bool probes = false;  // --probes
  int verbose = 0;      // -v
};

// SessionChoices says what steers a session while it runs, and what ends it.
struct SessionChoices {
  std::optional<double> seconds;  // -T: the session ends then
  std::string control_path;       // --control PATH; empty: none
  bool monitor = false;           // --monitor; sets ReportChoices::times too
  Limits limits;                  // -D

  // Whether the user may switch probes from outside of the script.
  bool is_steered() const { return !control_path.empty() || monitor; }
};

// StressChoices turns on --stress: djtap counts every function and reports on the engine.
struct StressChoices {
  std::optional<std::string> pattern;  // --stress PATTERN: makes ScriptChoices::text
  std::string coverage;                // --coverage FILE, with --stress

  bool is_on() const { return pattern.has_value(); }
};

// ListChoices says what djtap lists instead of running a session.
struct ListChoices {
  std::optional<std::string> pattern;  // -l PATTERN
  bool source = false;                 // --source; sets the pattern too
  bool variables = false;              // -L
};

// KernelBuildChoices says for which kernel `djtap kernel-build` builds the module. With -o it is
// written to that file, else it is kept for sessions.
struct KernelBuildChoices {
  bool wanted = false;
  std::string release;  // empty: that of the running kernel
  std::string headers;  // --headers FOLDER; empty: those of /lib/modules
};

// CleanChoices says what `djtap clean` cleans.
struct CleanChoices {
  bool wanted = false;
  std::vector<pid_t> pids;  // empty: all processes
};

// ActionChoices says what djtap does other than a session of a script.
struct ActionChoices {
  CleanChoices clean;                  // clean [PID|NAME ...]
  bool doctor = false;                 // doctor [PROGRAM]: makes TargetChoices::command of it
  bool doctor_json = false;            // doctor --json
  KernelBuildChoices kernel_build;     // kernel-build [RELEASE]
  std::optional<std::string> explain;  // --explain CODE
  bool version = false;                // --version; djtap then reads no other word
  bool language_server = false;        // --lsp
  bool interactive = false;            // -i
  std::vector<std::string> words;      // all of the command line but -i
  bool tidy = false;                   // --fmt
  bool script_help = false;            // --help with a script
  bool dry_run = false;                // -n
};

}  // namespace dj
