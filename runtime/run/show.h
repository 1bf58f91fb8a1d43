// SPDX-License-Identifier: Apache-2.0
// show(), fail() and the others write what a command tells the user, and give the exit code that it
// ends with.
#pragma once
#include <functional>
#include <string>

#include "compiler/base/result.h"
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"
#include "runtime/command/exit_code.h"
#include "runtime/output/messages.h"

namespace dj {

// Gives diagnostics the form that the command line asks for from here on.
void report_as(const MessageChoices& messages);

// Tells what is wrong with the command line. Returns kExitUsage.
int fail_usage(const CommandLine& line, const UsageError& wrong);

// Tells that djtap cannot get something that an option or a word of the command line names. Returns
// kExitUsage.
int fail_without(const CommandLine& line, const std::string& option, const std::string& message);

// Tells the error `code`. Returns `exit_code`.
int fail(int exit_code, const std::string& code, const std::string& message);

// Tells that there is no way to the target; the diagnostic's code is that of the error's kind.
// Returns the exit code.
int fail_attach(const Error& error);

// Ends a command that only shows a text: shows it and returns the exit code. ended: gives the exit
// code of a failure.
int print_result(const Result<std::string>& text, const std::function<int(const Error&)>& ended);

// Opens /dev/null for those of stdin, stdout and stderr that are closed when djtap starts; else
// djtap would write to the next file that it opens as stderr. The target gets none of them. Call it
// first.
void fill_standard_descriptors();

// Writes printable_lines() of `text` to stdout. end_of_output() reports a failure.
void show(const std::string& text);

// Writes a script's own text to stdout, byte for byte: it may become a file again.
void show_script(const std::string& text);

// Shows a stage's data ("ast", "plan" ..), if --dump asks for it.
void show_stage(const StageChoices& stages, const char* stage, const std::string& text);

// Returns the exit code for a failure of djtap itself when the command runs or may run: djtap then
// hands the command's exit codes through, and this code is none of them.
int exit_code_beside(const TargetChoices& target);

// Names the processes that djtap has started and killed and that have not ended.
void warn_of_children_left();

// Returns the exit code. If stdout did not take everything and `exit_code` means success, says so
// and returns the code of a failure. Call it last.
int end_of_output(const TargetChoices& target, int exit_code);

// Lets djtap outlive readers that stop reading, from here on: it has probes to take out of the
// target. Ignores SIGPIPE, and makes djtap lose what stderr does not take (fmt::print() throws for
// a stream that fails; glibc's stderr is a variable that djtap may set).
void outlive_readers();

}  // namespace dj
