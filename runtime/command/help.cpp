// SPDX-License-Identifier: Apache-2.0
// Lines of two columns, the right one wrapped.
#include "runtime/command/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <vector>

namespace dj {
namespace {

constexpr size_t kColumn = 30, kWidth = 100;

// "  left   right", with as many lines as the right column needs; behind a left one that is too
// long it begins on the next line.
std::string row(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  size_t column = text.size() + 1;  // where the next word would stand
  const auto begin_line = [&] {
    text += "\n" + std::string(kColumn, ' ');
    column = kColumn;
  };
  if (column < kColumn) {
    text.append(kColumn - text.size(), ' ');
    column = kColumn;
  } else {
    begin_line();
  }
  std::istringstream words(right);
  for (std::string word; words >> word;) {
    if (column > kColumn && column + 1 + word.size() > kWidth) begin_line();
    if (column > kColumn) text += ' ', ++column;
    text += word;
    column += word.size();
  }
  return text + "\n";
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    while (app->get_parent() != nullptr) app = app->get_parent();  // `djtap clean --help`
    std::string text = app->get_description() + "\n\nCommands:\n";
    for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
      text += row(command->get_name() + " " + command->get_footer(), command->get_description());
    for (const std::string& group : app->get_groups()) {
      const auto is_of_group = [&](const CLI::Option* option) {
        return option->get_group() == group && !option->get_positional();
      };
      if (group.empty() || app->get_options(is_of_group).empty()) continue;
      text += "\n" + group + ":\n";
      for (const CLI::Option* option : app->get_options(is_of_group)) text += option_row(*option);
    }
    return text + "\n" + app->get_footer() + "\n";
  }

 private:
  static std::string option_row(const CLI::Option& option) {
    const std::string& value = option.get_option_text();
    return row(names_of_option(option) + (value.empty() ? "" : " " + value),
               option.get_description());
  }
};

}  // namespace

std::string names_of_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& each : option.get_snames()) names.push_back("-" + each);
  for (const std::string& each : option.get_lnames()) names.push_back("--" + each);
  return fmt::format("{}", fmt::join(names, ","));
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace dj
