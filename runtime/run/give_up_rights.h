// SPDX-License-Identifier: Apache-2.0
// give_up_rights(): where djtap's rights end. With -p PID of a process that has fewer rights than
// djtap, or another user, djtap becomes its equal before it has read a byte of what that user can
// write (docs/design.md, "Trust").
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/command/choices.h"
#include "runtime/process/own_files.h"

namespace dj {

// NeededFiles: the files that djtap reads and writes for itself after it has given up rights.
struct NeededFiles {
  OwnPaths paths;                    // what the command line names: the broker opens them
  std::vector<std::string> tapsets;  // folders, beside djtap's own
  bool cache = true;                 // analyses may be kept
};

NeededFiles needed_files(const ScriptChoices& script, const ReportChoices& report,
                         const std::string& control_path, bool cache);

// What keeps djtap from becoming its target's equal: a diagnostic's code and text.
struct RightsKept {
  std::string code, message;
};

// To be called while djtap has one thread, before the target is looked at. Changes nothing where
// djtap has no more rights than the target in the first place, with -c (a child has djtap's rights)
// and with --trust-target. Otherwise a broker keeps the rights (process/broker.h). Returns why
// djtap cannot go on; nothing: it can.
std::optional<RightsKept> become_equal_of_target(const TargetChoices& target,
                                                 const NeededFiles& files);
// The same, told; returns the exit code then.
std::optional<int> give_up_rights(const TargetChoices& target, const NeededFiles& files);

// To be called when the target has been opened, unless it is trusted: fails if djtap has more
// rights than it, since the process has given up some, or its number is another's, after
// give_up_rights() had looked.
Status check_rights(pid_t pid);

}  // namespace dj
