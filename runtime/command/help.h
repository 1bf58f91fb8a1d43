// SPDX-License-Identifier: Apache-2.0
// What djtap --help prints. Manual and completions are made from it: a group is a line that ends in
// a colon, an option or command a line that begins with two spaces (scripts/man,
// scripts/completion.bash).
#pragma once
#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
class Option;
}  // namespace CLI

namespace dj {

// All names of an option as one writes them, short ones first: "-t,--times".
std::string names_of_option(const CLI::Option& option);

// For CLI::App::formatter(): usage, the commands, then the options by their groups in the order in
// which they were added. An option shows its option_text(); one without a group is not shown.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace dj
