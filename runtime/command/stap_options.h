// SPDX-License-Identifier: Apache-2.0
// SystemTap's options that djtap does not have: what to say of each, or that it may be left out.
// Source: stap(1) of SystemTap 4.8.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dj {

struct StapOption {
  std::string_view name;  // "--remote", "-R"; no value behind it
  std::string_view
      help;  // what to do instead; empty: djtap does so anyway, the option means nothing
};

// The row of an option as it stands on a command line ("--remote=host", "-R"); null: SystemTap has
// no such option, or djtap has it too.
const StapOption* stap_option(std::string_view word);

// The words of a command line, with `-W undeclared` (and -Wundeclared) as --strict; -W alone stays.
std::vector<std::string> with_named_warnings(std::vector<std::string> words);

// Whether SystemTap has a limit of this name (-D) whose subject djtap does not have: it is taken
// and limits nothing.
bool is_stap_limit(std::string_view name);

}  // namespace dj
