// SPDX-License-Identifier: Apache-2.0
// The script as a file: reading it, and what --help says about it.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/parse/script_options.h"
#include "runtime/command/options.h"

namespace dj {

// The script's text: of -e, of a file, or of stdin where the file is "-". Line ends become "\n", a
// byte order mark goes. An error where the file is no script: a folder, a program, UTF-16.
Result<std::string> read_script(const Options& options);

// That there is none in the file that is named. Somebody may have left -e out.
UsageError no_script(const Options& options, const Error& why);

// --help with a script: its first comment, and its options once it is parsed.
std::string script_help(const Options& options, const std::string& text,
                        const ScriptOptions& script_options);

}  // namespace dj
