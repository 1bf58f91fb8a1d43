// SPDX-License-Identifier: Apache-2.0
// TailCalls: where the calls of return handlers go when functions end in tail calls, or in code
// that is other functions', too. A handler that wants the result runs where the callee returns; so
// it has places in the callee, in the callee's callees, and so on. A call of a function that leaves
// through shared code is kept at its entry, as if that were a tail jump.
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

// Finds the exits of functions with return sites: sets Plan::exits, and Handler::shared_exits of
// handlers at functions whose exits others leave by, too. Call it before the plan is laid out and
// lowered. Analyses the modules that have return sites; nobody need be stopped. Of a module that
// cannot be read no exit is counted and no handler marked.
void find_exits(Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes);

// CallsAt: what a place of a return probe calls.
struct CallsAt {
  arch::Region region;
  arch::Leaving leaving;
  std::vector<PatchCall> calls;
};

class TailCalls {
 public:
  // Calls into modules before `first_module` cannot be followed. read_word: as for Imports.
  TailCalls(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
            size_t first_module, const ReadWord& read_word);

  // The places of a probed function's Return site: its exits, or its entry where these are shared.
  std::vector<CallsAt> own_places(SiteId site, size_t module, const arch::Exits& exits);
  // False: no return of this site's function can be seen by one of its handlers.
  bool any_seen(SiteId site, size_t module, const arch::Exits& exits);
  const char* why_unseen(SiteId site) const;  // when that is false
  // Next function that a handler of a probed one was followed into, until there are no more.
  struct Step {
    FunctionAt function;
    HandlerId handler = 0;
    SiteId site = 0;  // a probed function that leads there
  };
  std::optional<Step> next();
  // Its places.
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

// Sorts the calls of one place: who follows calls into a function comes before its own entry
// handlers; at an exit its own return is seen before those of the functions that it returns for.
void order_calls(std::vector<PatchCall>& calls);

// Why a function without exits is skipped.
inline constexpr const char* kNeverReturns = "never returns";

// Where a function's returns cannot be seen nothing of its calls is kept: they would count as
// entered, and then as abandoned. Those of a function that never returns are.
void drop_lone_captures(const Plan& plan, std::vector<PatchSite>& places);

}  // namespace dj
