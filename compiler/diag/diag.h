// SPDX-License-Identifier: Apache-2.0
// Diag: one mistake in a script, as a value; Diags: all of them, in order of discovery.
// One renderer serves parse, check, resolve, attach and run-time diagnostics.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/source.h"

namespace dj {

enum class Severity : uint8_t { Error, Warning };

// A second place that belongs to the same mistake ("opened here", "first used as a string here").
struct Label {
  Span span;
  std::string text;
};

// A change of the script that a tool may offer: `text` in place of what stands at `span`.
struct Fix {
  Span span;
  std::string text;
};

struct Diag {
  Severity severity = Severity::Error;
  std::string code;  // "DJ0xxx" the command line, "DJ1xxx" parse, "DJ2xxx" check, "DJ3xxx" resolve,
                     // "DJ4xxx" attach, "DJ5xxx" run
  Span span;         // the exact bytes that are wrong; begin==end==0 && no_span: nothing to show
  bool no_span = false;
  std::string message;  // one sentence, lower case, no final period
  std::vector<Label> labels;
  std::vector<std::string> notes;  // "= note" lines: what was searched, types, ranges
  std::string help;                // a suggestion the user can act on; empty: none
  std::vector<Fix> fixes;          // the same for programs; each of them alone

  // "did you mean ...?", and a fix for each name. None: nothing happens.
  void suggest(const std::vector<std::string>& names);
};

// Diags: collected by the stages. At most one error per root cause: a stage that meets a
// poisoned node (already reported) stays silent.
class Diags {
 public:
  // The code is a row of codes.def. What they return is for help, notes and labels, until the next
  // one is reported.
  Diag& error(std::string code, Span span, std::string message);
  Diag& warning(std::string code, Span span, std::string message);
  void add(Diag diag);                  // that another stage has reported
  Diag& last() { return all_.back(); }  // the one reported last
  bool ok() const { return errors_ == 0; }
  size_t error_count() const { return errors_; }
  const std::vector<Diag>& all() const { return all_; }

 private:
  std::vector<Diag> all_;
  size_t errors_ = 0;
};

// Renders one diagnostic in the shape of rustc's: header, place, source line,
// underline, labels, notes, help. Ends with a newline. colour: ANSI escapes for a terminal.
std::string render(const Diag& diag, const Sources& sources, bool colour);
// As a line of JSON (docs/diagnostics.schema.json).
std::string render_json(const Diag& diag, const Sources& sources);

// The at most `limit` names of `known` that are near enough to `name` to be a typing mistake
// (edit distance, transpositions count 1, at most max(1, len/3); a known name that `name` is a
// prefix of also counts), nearest first.
std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& known,
                                    size_t limit = 3);
// "did you mean \"a\" or \"b\"?" or "" when `names` is empty.
std::string did_you_mean(const std::vector<std::string>& names);

}  // namespace dj
