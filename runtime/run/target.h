// SPDX-License-Identifier: Apache-2.0
// find_target() finds the target that the command line names; target_files() gives what the
// compiler may know of it.
#pragma once
#include <optional>

#include "compiler/base/result.h"
#include "compiler/resolve/meant_target.h"
#include "compiler/resolve/resolve.h"
#include "runtime/command/choices.h"
#include "runtime/process/process.h"
#include "runtime/run/found_target.h"

namespace dj {

// TargetUse says what djtap wants the target for.
enum class TargetUse : uint8_t {
  Unlikely,  // a stage ends djtap before, if no Lua tapset asks for the target
  List,      // djtap lists its probe points
  Examine,   // by the doctor, which says in rows of its own what is missing
  Probe,
};

// Forks the process that will run the command. child_mask: its signal mask.
Result<ForkedChild> fork_target(const std::vector<std::string>& command,
                                const sigset_t& child_mask);

// Returns the process that the command line names; nothing if it names none. child: forked before;
// empty: it forks now, if there is a command.
Result<FoundTarget> find_target(const TargetChoices& target, TargetUse use,
                                const sigset_t& child_mask,
                                std::optional<Result<ForkedChild>> child = std::nullopt);

// Finds files from here on by the names that the process has for them.
void find_names_as(int pid);

// Looks at a running process. trusted: djtap may have more rights than it. Fails as
// TracedProcess::open() and check_rights() do.
Result<TracedProcess> open_process(int pid, bool trusted, bool writable_text);

// What the points of the program mean. Reports points of the kernel that have no form, and points
// that cannot be in one session.
MeantTarget meant_target(const Program& program, const TargetChoices& target, Diags& diags);

// Returns the running kernel, with the modules that are meant. child: the command that is to run
// beside it; empty: none.
Result<FoundTarget> find_kernel_target(const MeantTarget& meant,
                                       std::optional<Result<ForkedChild>> child);

// Returns the exit code of a djtap that could not launch its command (126, 127 as a shell's).
int command_exit_code(const Error& error);
// Returns the exit code of a djtap that could not launch or open the target.
int target_exit_code(const TargetChoices& target, const Error& error);
// Says why, and returns that exit code.
int target_failure(const TargetChoices& target, const Error& error);

// Returns why a program that djtap has launched runs with fewer rights than its file gives it: the
// kernel takes such rights from a traced program. Empty: it has all rights.
std::string lost_rights(pid_t pid, const std::string& command);
// Returns what djtap does without in an object whose file it cannot open.
std::string lost_file_text(pid_t pid, const LostFile& file);

// Returns what -v says of the target: its number, and how many modules it has.
std::string summary_of(const FoundTarget& target);

// Returns the files and mappings of a process, without helpers.
TargetFiles files_of_process(const std::vector<MappedModule>& modules);
// Returns the files and mappings of the target, without helpers; none without a target.
TargetFiles target_files(const FoundTarget& target);

}  // namespace dj
