// SPDX-License-Identifier: Apache-2.0
// The command line as a text that diagnostics point into, and what can be wrong with it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/source.h"

namespace dj {

// Thrown while options are read (CLI11 calls djtap back), returned as a value later.
struct UsageError {
  std::string code;     // DJ0xxx
  std::string option;   // what is shown: an option with all its names, "-f,--format", or another
                        // word as it was given; "": the command
  std::string message;  // without the option's name
  std::vector<std::string> near;  // what may stand there instead, the option included
  std::string help;               // where nothing is near; "": all options are listed somewhere
  std::string value = {};         // the one that is refused; "": the last that the option was given
};

// The words as one line of a shell, quoted where a shell would need it.
class CommandLine {
 public:
  CommandLine() = default;
  CommandLine(int count, const char* const* words);

  // The last word that is `option`, or begins with it as "--guards=all" and "-DNAME=1" do: the
  // last with that value, if there is one. with_value: and the word behind it, where the value is
  // one of its own. The word "djtap" if there is none.
  Span place(std::string_view option, bool with_value, std::string_view value = {}) const;
  // Whether `option` is given, with `value` as a part of its word or as the next one.
  bool gives(std::string_view option, std::string_view value) const;
  const Sources& sources() const { return sources_; }

 private:
  struct Given {
    std::string_view value;
    Span whole;  // the option and its value
  };
  // What words_[i] gives the option; none: it is another word.
  std::optional<Given> given_at(size_t i, std::string_view option) const;

  std::vector<std::string> words_;  // those of djtap itself: up to "--"
  std::vector<Span> spans_;         // of each
  Sources sources_;
};

// Tells it as a diagnostic, in the form that the command line asks for.
void report_usage(const CommandLine& line, const UsageError& wrong);

}  // namespace dj
