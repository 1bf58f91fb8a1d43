// SPDX-License-Identifier: Apache-2.0
// read_script() reads the script as a file; script_help() makes what --help says about it.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/parse/script_options.h"
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"

namespace dj {

// Returns the script's text: of -e, of a file, or of stdin if the file is "-". Turns line ends into
// "\n" and drops a byte order mark. Fails if the file is no script: a folder, a program, UTF-16.
Result<std::string> read_script(const ScriptChoices& script);

// Returns the error that the file at `path` is no script; it also says so if the user may have left
// out -e.
UsageError no_script(const std::string& path, const Error& why);

// Returns the text of --help with a script: its first comment, and its options once it is parsed.
std::string script_help(const ScriptChoices& script, const std::string& text,
                        const ScriptOptions& script_options);

}  // namespace dj
