// SPDX-License-Identifier: Apache-2.0
// stap_option() knows SystemTap's options that djtap lacks: what to answer for each, or that it has
// no effect. Source: stap(1) of SystemTap 4.8.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dj {

struct StapOption {
  std::string_view name;  // "--remote", "-R"; no value behind it
  std::string_view
      help;  // what to do instead; empty: djtap does so anyway, the option has no effect
};

// Returns the row of an option as it stands on a command line ("--remote=host", "-R"); null:
// SystemTap has no such option, or djtap has it too.
const StapOption* stap_option(std::string_view word);

// Returns the words of a command line with `-W undeclared` (and -Wundeclared) replaced by --strict;
// -W alone stays.
std::vector<std::string> with_named_warnings(std::vector<std::string> words);

// Whether SystemTap has a limit of this name (-D) for something that djtap does not have. djtap
// accepts it, and it limits nothing.
bool is_stap_limit(std::string_view name);

}  // namespace dj
