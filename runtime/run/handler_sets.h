// SPDX-License-Identifier: Apache-2.0
// HandlerSets keeps the handlers that a session has compiled. Programs that need the same ones
// share them: a script that probes libraries alone, as `probe syscall.*` does, is compiled once for
// all programs that the target executes.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "compiler/stages/image.h"
#include "compiler/stages/plan.h"

namespace dj {

// HandlerCode: the handlers of a plan, compiled.
struct HandlerCode {
  Image image;
  std::vector<HandlerAbi> abis;  // one for each handler of the plan
  HandlerId first = 0;           // the session's number of the first
};

class HandlerSets {
 public:
  // Returns the code of an earlier plan whose handlers are the same, for a target that has rseq
  // areas as this one has. Null: there is none. Host probes run in djtap, from the session's first
  // plan and from those that have them alone: such a plan has no sites, and code of its own.
  std::shared_ptr<const HandlerCode> find(const Plan& plan, bool has_rseq) const;
  // Keeps the code of a plan for find(), and of the 63 before it.
  void keep(const Plan& plan, bool has_rseq, std::shared_ptr<const HandlerCode> code);

 private:
  // What lower() makes code from, of a plan; the script is the same for all.
  struct Source {
    explicit Source(const Plan& plan, bool has_rseq);
    bool operator==(const Source&) const = default;
    std::vector<Handler> handlers;
    std::vector<TargetPlan> function_targets;
    std::vector<bool> waits, of_calls, of_syscalls, of_children;
    bool has_rseq;
  };
  struct Kept {
    Source source;
    std::shared_ptr<const HandlerCode> code;
  };
  std::deque<Kept> kept_;  // the oldest first
};

}  // namespace dj
