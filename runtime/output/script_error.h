// SPDX-License-Identifier: Apache-2.0
// ScriptErrors reports run-time errors of handlers as diagnostics: what happened, at which address
// and in which mapping, where in the script, in which probe and thread. It counts an error that
// recurs, and does not repeat it.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "runtime/shared/event.h"

namespace dj {

struct ScriptErrorInput {
  const std::vector<Span>& spans;  // Image::spans
  const Plan& plan;
  const Sources& sources;
  const Layout& layout;  // its header says who the target is
};

class ScriptErrors {
 public:
  explicit ScriptErrors(const ScriptErrorInput& input) : input_(input) {}
  // Whether a handler of the script can have sent this payload.
  bool can_be(const abi::ErrorPayload& payload) const;
  // Reports a payload for which can_be() is true. text: of error("text"), else empty.
  void report(const abi::ErrorPayload& payload, uint32_t site, std::string_view text);
  // Prints one line for each kind of error whose repetitions it has only counted.
  void summarize();
  // Returns the number of all errors, repetitions too.
  uint64_t count() const { return count_; }

 private:
  ScriptErrorInput input_;
  uint64_t count_ = 0;
  struct Seen {
    uint64_t times = 0;
    Diag first;
  };
  std::map<std::pair<uint32_t, uint32_t>, Seen> seen_;  // by (kind, span)
};

}  // namespace dj
