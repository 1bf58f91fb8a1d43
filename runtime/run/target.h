// SPDX-License-Identifier: Apache-2.0
// The target as the command line names it, and what the compiler may know of it.
#pragma once
#include <optional>

#include "compiler/base/result.h"
#include "compiler/resolve/resolve.h"
#include "runtime/command/options.h"
#include "runtime/process/process.h"
#include "runtime/target/process/traced_process.h"

namespace dj {

// The process that the command (there is one) is to run in. child_mask: its signals.
Result<ForkedChild> fork_target(const Options& options, const sigset_t& child_mask);

// The target as the command line names it; null when there is none. child: forked before; null: it
// is forked now, if there is a command.
Result<std::optional<TracedProcess>> find_target(
    const Options& options, const sigset_t& child_mask,
    std::optional<Result<ForkedChild>> child = std::nullopt);

// With what djtap ends where the target could not be launched or opened (126, 127 as a shell's).
int target_exit_code(const Options& options, const Error& error);
// The same; says why, too.
int target_failure(const Options& options, const Error& error);

// Why a program that djtap has launched runs with fewer rights than its file gives it, which the
// kernel takes from who is traced; empty: it has all.
std::string lost_rights(pid_t pid, const std::string& command);
// What djtap does without in an object whose file cannot be opened.
std::string lost_file_text(pid_t pid, const LostFile& file);

// Files and mappings of the target; without one, of nobody. printers: for texts; may be null.
TargetFiles target_files(const std::optional<TracedProcess>& process,
                         const TypePrinters* printers = nullptr);

}  // namespace dj
