// SPDX-License-Identifier: Apache-2.0
// Diagnostics of the command line are rendered as those of scripts are.
#include "runtime/command/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/diag/diag.h"
#include "runtime/output/messages.h"

namespace dj {
namespace {

std::string as_shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_@%+=:,./-").find(char(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return quoted + "'";
}

// The names of "-f,--format", each.
std::vector<std::string_view> names_of(std::string_view option) {
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= option.size();) {
    const size_t end = std::min(option.find(',', begin), option.size());
    names.push_back(option.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Whether `word` is the option `name` with its value: "--guards=all", "-S5".
bool holds_value(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || word.size() == name.size()) return false;
  if (name.starts_with("--")) return word[name.size()] == '=';
  return name.size() == 2 && name[0] == '-';
}

}  // namespace

CommandLine::CommandLine(int count, const char* const* words) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string word = i == 0 ? "djtap" : words[i];
    const bool own = words_.size() == static_cast<size_t>(i) && word != "--";
    if (i > 0) text += ' ';
    const auto begin = static_cast<uint32_t>(text.size());
    text += as_shell_word(word);
    if (!own) continue;
    words_.push_back(word);
    spans_.push_back({0, begin, static_cast<uint32_t>(text.size())});
  }
  sources_.add("<arguments>", text);
}

std::optional<CommandLine::Given> CommandLine::given_at(size_t i, std::string_view option) const {
  const std::string_view word = words_[i];
  for (const std::string_view name : names_of(option)) {
    const bool apart = word == name && i + 1 < words_.size();
    if (apart) return Given{words_[i + 1], sources_.join(spans_[i], spans_[i + 1])};
    if (word == name) return Given{{}, spans_[i]};
    if (holds_value(word, name))
      return Given{word.substr(name.size() + name.starts_with("--")), spans_[i]};
  }
  return word == option ? std::optional(Given{{}, spans_[i]}) : std::nullopt;
}

Span CommandLine::place(std::string_view option, bool with_value, std::string_view value) const {
  std::optional<Span> last;
  for (size_t i = words_.size(); i-- > 1;) {
    const std::optional<Given> given = given_at(i, option);
    if (!given) continue;
    const Span here = with_value ? given->whole : spans_[i];
    if (value.empty() || given->value == value) return here;
    last = last ? last : here;
  }
  return last ? *last : spans_.empty() ? Span{} : spans_.front();
}

bool CommandLine::gives(std::string_view option, std::string_view value) const {
  for (size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] == fmt::format("{}={}", option, value)) return true;
    if (words_[i] == option && i + 1 < words_.size() && words_[i + 1] == value) return true;
  }
  return false;
}

void report_usage(const CommandLine& line, const UsageError& wrong) {
  const bool of_value = wrong.code == "DJ0003" || wrong.code.starts_with("DJ4");
  const bool alone = wrong.option == wrong.value;  // a word behind a command
  Diag diag;
  diag.code = wrong.code;
  diag.span = line.place(wrong.option, of_value && !alone, wrong.value);
  diag.message = wrong.message;
  diag.help = wrong.help.empty() ? "djtap --help lists all options" : wrong.help;
  if (!wrong.near.empty()) diag.suggest(wrong.near);
  tell(diag, line.sources());
}

}  // namespace dj
