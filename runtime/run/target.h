// SPDX-License-Identifier: Apache-2.0
// The target as the command line names it, and what the compiler may know of it.
#pragma once
#include <optional>

#include "compiler/base/result.h"
#include "compiler/resolve/resolve.h"
#include "runtime/command/choices.h"
#include "runtime/process/process.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// TargetUse: what the target is wanted for.
enum class TargetUse : uint8_t {
  Unlikely,  // a stage ends djtap before, if no Lua tapset asks for the target
  List,      // its probe points are listed
  Examine,   // by the doctor, who says in rows of its own what is missing
  Probe,
};

// Forks the process that the command is to run in. child_mask: its signals.
Result<ForkedChild> fork_target(const std::vector<std::string>& command,
                                const sigset_t& child_mask);

// The target as the command line names it; null when there is none. child: forked before; null: it
// is forked now, if there is a command.
Result<std::optional<TracedProcess>> find_target(
    const TargetChoices& target, TargetUse use, const sigset_t& child_mask,
    std::optional<Result<ForkedChild>> child = std::nullopt);

// With what djtap ends where the target could not be launched or opened (126, 127 as a shell's).
int target_exit_code(const TargetChoices& target, const Error& error);
// The same; says why, too.
int target_failure(const TargetChoices& target, const Error& error);

// Why a program that djtap has launched runs with fewer rights than its file gives it, which the
// kernel takes from who is traced; empty: it has all.
std::string lost_rights(pid_t pid, const std::string& command);
// What djtap does without in an object whose file cannot be opened.
std::string lost_file_text(pid_t pid, const LostFile& file);

// What -v says of it: its number, and how many modules it has.
std::string summary_of(const std::optional<TracedProcess>& process);

// Files and mappings of the target; without one, of nobody. printers: for texts; may be null.
TargetFiles target_files(const std::optional<TracedProcess>& process,
                         const TypePrinters* printers = nullptr);

}  // namespace dj
