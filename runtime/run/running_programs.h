// SPDX-License-Identifier: Apache-2.0
// find_everywhere() finds the target of a script that names programs where the command line names
// no process: all processes that run these programs, and those that will.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/resolve/meant_target.h"
#include "compiler/stages/program.h"
#include "runtime/command/choices.h"
#include "runtime/run/found_target.h"

namespace dj {

// Returns the oldest process that has one of `files` (program_files(), not empty), with the others
// as more_pids. If none runs, waits for the first that executes one; it stands at its start then.
// With root's rights, FoundTarget::gate holds each later exec of these files from then on. seconds:
// how long to wait at most. Fails with Permission if no process runs and djtap may not wait for
// one, with NotFound behind the wait, and if djtap is told to end. Warns of processes that cannot
// be probed.
Result<FoundTarget> find_everywhere(const std::vector<std::string>& files,
                                    const TargetChoices& choices, std::optional<double> seconds);

// Returns the files of which all processes are meant: those that the script names, if the command
// line names no process and nothing of the kernel is meant. Empty: there are none.
std::vector<std::string> files_everywhere(const Program& program, const MeantTarget& meant,
                                          const TargetChoices& choices);

}  // namespace dj
