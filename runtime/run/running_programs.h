// SPDX-License-Identifier: Apache-2.0
// find_everywhere() finds the target of a script that means processes of the whole machine, as the
// command line names none: all that have the files that it names, or all there are, and those that
// come later.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/resolve/meant_target.h"
#include "compiler/stages/program.h"
#include "runtime/command/choices.h"
#include "runtime/process/file_number.h"
#include "runtime/run/found_target.h"

namespace dj {

// FilesEverywhere holds what a script names whose processes are all meant.
struct FilesEverywhere {
  std::vector<std::string> programs;       // paths; libraries, too, that process("file") names
  std::vector<std::string> library_names;  // as the script has them
  LibraryFiles libraries;                  // of these names, which processes have mapped
  bool every_process = false;              // means_every_process()

  bool are_meant() const { return every_process || !programs.empty() || !library_names.empty(); }
};

// Returns those of a script. Empty if the command line names a process, or something of the kernel
// is meant.
FilesEverywhere files_everywhere(const Program& program, const MeantTarget& meant,
                                 const TargetChoices& choices);

// Returns the oldest process that has one of `files`, with the others as more_pids. If none has,
// waits for the first that executes one of the programs; it stands at its start then. With root's
// rights, FoundTarget::gate holds each later exec that matters from then on; without, what these
// processes execute is followed. seconds: how long to wait at most. Fails with Permission if no process runs and djtap may not wait for one, with
// NotFound behind the wait, if djtap is told to end, and if only libraries are meant and no process
// has one. Warns of processes that cannot be probed.
Result<FoundTarget> find_everywhere(const FilesEverywhere& files, const TargetChoices& choices,
                                    std::optional<double> seconds);

}  // namespace dj
