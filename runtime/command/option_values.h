// SPDX-License-Identifier: Apache-2.0
// The functions of this file check what single options take, and which options go together. They
// throw each mistake as a UsageError.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/command/command_line.h"
#include "runtime/command/options.h"

namespace dj {

// Returns the error of an option that does not take `value`. takes: what it takes, as a text.
// others: the words that it takes, to find a misspelt one.
UsageError not_taken(const std::string& option, const std::string& takes, const std::string& value,
                     const std::vector<std::string>& others = {});

// Returns a callback for an option that takes one of `words`: it sets `into` to the word's value.
template <class T>
auto one_of(const char* option, const std::map<std::string, T>& words, T& into) {
  return [option, &words, &into](const std::string& word) {
    auto found = words.find(word);
    if (found == words.end()) {
      std::vector<std::string> names;
      for (const auto& [name, value] : words) names.push_back(name);
      throw not_taken(option, fmt::format("{}", fmt::join(names, ", ")), word, names);
    }
    into = found->second;
  };
}

// Throws where `text` is no whole number. option: as in UsageError.
void check_whole(const std::string& option, const std::string& text);
// Throws where `text` is no number of seconds above 0, which may have a fraction.
void check_seconds(const std::string& text);
void check_folder(const std::string& text);

void set_command(Options& options, const std::string& text);                  // -c
void set_dumps(Options& options, const std::string& list);                    // --dump
void set_format(Options& options, const std::string& form);                   // -f
void set_rotation(Options& options, const std::string& text);                 // -S
void set_ring(Options& options, const std::string& text);                     // -s
void set_source(Options& options, const std::string& text);                   // --source
void set_limits(Options& options, const std::vector<std::string>& settings);  // -D

// Takes SystemTap's options out of words that no option of djtap takes. It accepts options that
// change nothing, and throws an answer for the others. Returns the remaining words.
std::vector<std::string> without_stap_options(Options& options,
                                              const std::vector<std::string>& words);

// Sets the program of `doctor`, with its arguments; may be empty.
void take_program(Options& options, std::vector<std::string> program);

// Checks everything that concerns more than one option. words: the script's file and its arguments.
void check_together(Options& options, std::vector<std::string> words);

}  // namespace dj
