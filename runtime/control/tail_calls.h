// TailCalls: where the calls of return handlers go when functions end in tail calls. A handler that
// wants the result runs where the callee returns; so it has places in the callee, in the callee's
// callees, and so on.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/plan.h"
#include "runtime/control/imports.h"
#include "runtime/control/module_code.h"
#include "runtime/control/patch.h"
#include "runtime/control/process.h"

namespace dj {

// CallsAt: what a place of a followed function calls.
struct CallsAt {
  arch::Region region;
  arch::Leaving leaving;
  std::vector<PatchCall> calls;
};

class TailCalls {
 public:
  // Calls into modules before `first_module` cannot be followed.
  TailCalls(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
            size_t first_module);

  // The calls of a probed function's exit, by the handlers of its Return site.
  std::vector<PatchCall> calls_at(SiteId site, size_t module, const arch::Exit& exit);
  // False: no return of this site's function can be seen by one of its handlers.
  bool any_seen(SiteId site, size_t module, const arch::Exits& exits);
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
  std::optional<FunctionAt> callee(size_t module, const arch::Exit& exit);
  const arch::Exits* exits_of(FunctionAt function);
  PatchCall leave(SiteId site, HandlerId handler, size_t module, const arch::Exit& exit);

  const Plan& plan_;
  const std::vector<MappedModule>& modules_;
  ModuleCodes& codes_;
  size_t first_module_;
  Imports imports_;
  std::vector<bool> waiting_;  // handlers_of_results()
  std::map<FunctionAt, arch::Exits> exits_;
  std::set<std::pair<FunctionAt, HandlerId>> followed_;
  std::deque<Step> steps_;
};

// Sorts the calls of one place: who follows calls into a function comes before its own entry
// handlers; at an exit its own return is seen before those of the functions that it returns for.
void order_calls(std::vector<PatchCall>& calls);

}  // namespace dj
