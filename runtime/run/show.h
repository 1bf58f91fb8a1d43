// SPDX-License-Identifier: Apache-2.0
// What a command says to people, and the exit code it ends with.
#pragma once
#include <functional>
#include <string>

#include "compiler/base/result.h"
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/command/exit_code.h"
#include "runtime/output/messages.h"

namespace dj {

// Gives diagnostics the form that the command line asks for, from here on.
void report_as(const MessageChoices& messages);

// Tells what is wrong with the command line. Returns kExitUsage.
int fail_usage(const CommandLine& line, const UsageError& wrong);

// The same of something that an option or a word of the command line names and that cannot be had.
int fail_without(const CommandLine& line, const std::string& option, const std::string& message);

// Tells the error `code`. Returns `exit_code`.
int fail(int exit_code, const std::string& code, const std::string& message);

// There is no way to the target: the code is that of the error's kind.
int fail_attach(const Error& error);

// The end of a command that only has something to show. ended: what a failure ends with.
int print_result(const Result<std::string>& text, const std::function<int(const Error&)>& ended);

// To be called first: opens /dev/null for those of stdin, stdout and stderr that djtap was started
// without, or the next file it opens is written to as stderr. The target gets none of them.
void fill_standard_descriptors();

// Writes printable_lines() of `text` to stdout. Takes notice of a failure only in end_of_output().
void show(const std::string& text);

// The same of a script's own text, byte for byte: it may become a file again.
void show_script(const std::string& text);

// The same of a stage's data ("ast", "plan" ...), if --dump asks for it.
void show_stage(const StageChoices& stages, const char* stage, const std::string& text);

// A failure of djtap's own when the command runs, or may: its exit codes are handed through then,
// so this is none of them.
int exit_code_beside(const TargetChoices& target);

// Names the processes that djtap has started and killed and that have not ended.
void warn_of_children_left();

// To be called last. Returns the exit code; if stdout did not take all and `exit_code` is that of
// success, says so and returns that of a failure.
int end_of_output(const TargetChoices& target, int exit_code);

// From here on nobody who stops reading ends djtap: it has probes to take out of the target.
// SIGPIPE is ignored, and what stderr does not take is lost (fmt::print() throws for a stream that
// fails; glibc's stderr is a variable that may be set).
void outlive_readers();

}  // namespace dj
