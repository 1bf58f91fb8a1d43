// SPDX-License-Identifier: Apache-2.0
// help_formatter() makes what djtap --help prints. scripts/man and scripts/completion.bash make the
// manual and the completions from it: a group is a line that ends in a colon, an option or command
// a line that begins with two spaces.
#pragma once
#include <memory>
#include <string>

namespace CLI {  // the library's name. NOLINT(readability-identifier-naming)
class App;
class FormatterBase;
class Option;
}  // namespace CLI

namespace dj {

// Returns all names of an option as users write them, short ones first: "-t,--times".
std::string names_of_option(const CLI::Option& option);

// Returns the formatter for CLI::App::formatter(). It writes usage, the commands, then the options
// by their groups in the order of their addition. An option shows its option_text(); it leaves out
// options without a group.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace dj
