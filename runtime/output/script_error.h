// SPDX-License-Identifier: Apache-2.0
// ScriptErrors: run-time errors of handlers as diagnostics: what happened, at which address and in
// which mapping, where in the script, in which probe and thread. The same error again and again is
// counted, not repeated.
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
  const Layout& layout;  // whose header says who the target is
};

class ScriptErrors {
 public:
  explicit ScriptErrors(const ScriptErrorInput& input) : input_(input) {}
  // Whether a handler of the script can have sent this.
  bool can_be(const abi::ErrorPayload& payload) const;
  // Of a payload that can be. text: of error("text"), else empty.
  void report(const abi::ErrorPayload& payload, uint32_t site, std::string_view text);
  // One line for each kind of error that was not repeated.
  void summarize();
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
