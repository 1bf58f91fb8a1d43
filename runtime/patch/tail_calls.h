// SPDX-License-Identifier: Apache-2.0
// TailCalls finds the places for the calls of return handlers where functions end in tail calls, or
// in code that other functions use, too. A handler that wants the result runs where the callee
// returns: so it has places in the callee, in the callee's callees, and so on. Where a function
// leaves through shared code, its call is kept at its entry, as if the entry were a tail jump.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/stages/plan.h"
#include "runtime/patch/imports.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Finds the exits of functions with return sites. Sets Plan::exits, and Handler::shared_exits of
// handlers at functions by whose exits other functions leave, too. Call it before the plan is laid
// out and lowered. It analyses the modules that have return sites, and needs no stopped thread. In
// a module that cannot be read it counts no exit and marks no handler. keeps_calls: false marks no
// handler, for the plan skips such functions then (TargetFacts::keeps_calls).
void find_exits(Plan& plan, const std::vector<MappedModule>& modules, bool keeps_calls,
                ModuleCodes& codes);

// CallsAt: one place of a return probe, and what it calls.
struct CallsAt {
  arch::Region region;
  arch::Leaving leaving;
  std::vector<PatchCall> calls;
};

class TailCalls {
 public:
  // TailCalls cannot follow calls into modules before `first_module`. read_word: as for Imports.
  TailCalls(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
            size_t first_module, const ReadWord& read_word);

  // Returns the places of a probed function's Return site: its exits, or its entry where other
  // functions share the exits.
  std::vector<CallsAt> own_places(SiteId site, size_t module, const arch::Exits& exits);
  // Whether a handler of the site can see at least one return of its function.
  bool any_seen(SiteId site, size_t module, const arch::Exits& exits);
  const char* why_unseen(SiteId site) const;  // when any_seen() is false
  // Returns the next function into which it has followed a handler of a probed one; empty: there
  // are no more.
  struct Step {
    FunctionAt function;
    HandlerId handler = 0;
    SiteId site = 0;  // a probed function that leads there
  };
  std::optional<Step> next();
  // Returns the places of that function.
  std::vector<CallsAt> places(const Step& step);

 private:
  std::vector<PatchCall> calls_at(SiteId site, size_t module, const arch::Exit& exit);
  CallsAt keep_at_entry(SiteId site, size_t module);
  void follow(FunctionAt function, HandlerId handler, SiteId site);
  std::optional<FunctionAt> callee(size_t module, const arch::Exit& exit);
  const arch::Exits* exits_of(FunctionAt function);
  PatchCall leave(SiteId site, HandlerId handler, size_t module, const arch::Exit& exit);

  const Plan& plan_;
  const std::vector<MappedModule>& modules_;
  ModuleCodes& codes_;
  size_t first_module_;
  Imports imports_;
  std::vector<bool> waiting_;  // handlers_of_results()
  std::set<std::pair<FunctionAt, HandlerId>> followed_;
  std::deque<Step> steps_;
};

// Sorts the calls of one place. Calls that follow a call into a function come before the function's
// own entry handlers. At an exit the function's own return comes before those of the functions that
// it returns for.
void order_calls(std::vector<PatchCall>& calls);

// The reason why a function without exits is Skipped.
inline constexpr const char* kNeverReturns = "never returns";

// Removes the entry captures of functions whose returns no handler can see: they would count calls
// as entered, and then as abandoned. The captures of a function that never returns stay.
void drop_lone_captures(const Plan& plan, std::vector<PatchSite>& places);

}  // namespace dj
