// SPDX-License-Identifier: Apache-2.0
// The script as a file: reading it, and what --help says about it.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/parse/script_options.h"
#include "runtime/command/choices.h"
#include "runtime/command/command_line.h"

namespace dj {

// The script's text: of -e, of a file, or of stdin where the file is "-". Line ends become "\n", a
// byte order mark goes. An error where the file is no script: a folder, a program, UTF-16.
Result<std::string> read_script(const ScriptChoices& script);

// Says that the file at `path` is no script, and where -e may have been left out, that.
UsageError no_script(const std::string& path, const Error& why);

// --help with a script: its first comment, and its options once it is parsed.
std::string script_help(const ScriptChoices& script, const std::string& text,
                        const ScriptOptions& script_options);

}  // namespace dj
