// Named options of a script: option("limit", 10, "rows to show") is 10, or what --limit=... says.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/source.h"

namespace dj {

struct ScriptOption {
  std::string name, fallback, help;  // fallback: the default as the script writes it
  bool is_number = false;
  Span span;  // of the name
};

struct ScriptOptions {
  std::map<std::string, std::string> given;  // from the command line, by name without "--"
  std::vector<std::string> taken;            // names that djtap's own options have
  std::vector<ScriptOption> declared;        // filled by parse(), each name once

  // What is wrong with a given name that the script does not declare; empty: nothing.
  std::string stranger() const;
  // One line for each option, for --help.
  std::string help() const;
};

}  // namespace dj
