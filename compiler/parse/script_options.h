// SPDX-License-Identifier: Apache-2.0
// Named options of a script: option("limit", 10, "rows to show") is 10, or what --limit=... says.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/source.h"

namespace dj {

struct ScriptOption {
  std::string name, fallback, help;  // fallback: the default as the script writes it
  bool is_number = false;
  Span span;  // of the name
};

// On the command line, but no option: "--rwos" in "--rwos=5", and options that are meant perhaps.
struct StrangeOption {
  std::string name, word;
  std::vector<std::string> near;  // each with the value, "--rows=5"
};

struct ScriptOptions {
  std::map<std::string, std::string> given;  // from the command line, by name without "--"
  std::vector<std::string> taken;            // names that djtap's own options have
  std::vector<ScriptOption> declared;        // filled by parse(), each name once

  // A given name that the script does not declare.
  std::optional<StrangeOption> stranger() const;
  // One line for each option, for --help.
  std::string help() const;
};

}  // namespace dj
