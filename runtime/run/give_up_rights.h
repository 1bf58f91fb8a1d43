// SPDX-License-Identifier: Apache-2.0
// give_up_rights() gives up the rights that djtap has over its target's. With -p PID of a process
// that has fewer rights than djtap, or another user, djtap becomes its equal before it reads a byte
// that that user can write (docs/design.md, "Trust").
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/command/choices.h"
#include "runtime/process/own_files.h"

namespace dj {

// NeededFiles names the files that djtap reads and writes for itself after it has given up rights.
struct NeededFiles {
  OwnPaths paths;                    // those that the command line names: the broker opens them
  std::vector<std::string> tapsets;  // folders, beside djtap's own
  bool cache = true;                 // djtap may keep analyses
};

// Returns the files that this command line makes djtap use. A control_path of "": none.
NeededFiles needed_files(const ScriptChoices& script, const ReportChoices& report,
                         const std::string& control_path, bool cache);

// RightsKept is the reason why djtap cannot become its target's equal: a diagnostic's code and
// text.
struct RightsKept {
  std::string code, message;
};

// Makes djtap its target's equal; a broker keeps the rights (process/broker.h). Changes nothing if
// djtap has no more rights than the target, with -c (a child has djtap's rights) and with
// --trust-target. Call it while djtap has one thread, before djtap looks at the target. Returns why
// djtap cannot go on; empty: it can.
std::optional<RightsKept> become_equal_of_target(const TargetChoices& target,
                                                 const NeededFiles& files);
// Calls become_equal_of_target(). If djtap cannot go on, tells why and returns the exit code.
std::optional<int> give_up_rights(const TargetChoices& target, const NeededFiles& files);

// Fails with Permission if djtap has more rights than the process of thread `id`, or belongs to
// another user: djtap would believe what that user can write. That is so for processes other than
// the one that give_up_rights() has looked at, and for that one if it has given up rights since.
// Call it when the process is open, unless djtap trusts it.
Status check_rights(pid_t id);

}  // namespace dj
