// SPDX-License-Identifier: Apache-2.0
// CommandLine holds the command line as a text that diagnostics point into; UsageError says what is
// wrong with it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/source.h"

namespace dj {

// UsageError is one mistake in the command line. djtap's callbacks throw it while CLI11 reads the
// options; other code returns it as a value.
struct UsageError {
  std::string code;     // DJ0xxx; DJ4xxx: the process that is named cannot be had
  std::string option;   // what to show: an option with all its names, "-f,--format", or another
                        // word as the user gave it; "": the command
  std::string message;  // without the option's name
  std::vector<std::string> near;  // what the user may write instead, the option included
  std::string help;               // help if `near` is empty; "": that djtap --help lists all
                                  // options
  std::string value = {};         // the refused value; "": the last one that the option has; the
                                  // same as `option`: a word that is no option
};

// CommandLine holds the words as one line of a shell, quoted where a shell needs quotes.
class CommandLine {
 public:
  CommandLine() = default;
  CommandLine(int count, const char* const* words);

  // Returns the place of the last word that is `option` or begins with it, as "--guards=all" and
  // "-DNAME=1" do; of the last one with the value `value`, if there is one. with_value: the place
  // also covers the next word, if that is the value. Returns the word "djtap" if no word is the
  // option.
  Span place(std::string_view option, bool with_value, std::string_view value = {}) const;
  // Whether the command line gives `option` the value `value`, as a part of its word or as the next
  // word.
  bool gives(std::string_view option, std::string_view value) const;
  const Sources& sources() const { return sources_; }

 private:
  struct Given {
    std::string_view value;
    Span whole;  // the option and its value
  };
  // Returns what words_[i] gives the option; empty: it is another word.
  std::optional<Given> given_at(size_t i, std::string_view option) const;

  std::vector<std::string> words_;  // those of djtap itself: up to "--"
  std::vector<Span> spans_;         // of each
  Sources sources_;
};

// Tells the mistake as a diagnostic, in the form that the command line asks for.
void report_usage(const CommandLine& line, const UsageError& wrong);

}  // namespace dj
