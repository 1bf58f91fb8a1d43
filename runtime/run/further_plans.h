// SPDX-License-Identifier: Apache-2.0
// FurtherPlans compiles what a session probes beyond its first plan: objects that a process opens
// later, and programs of further processes. It gives each plan numbers of its own for sites and
// handlers, by which djtap tells where an event comes from.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/resolve/resolve.h"
#include "runtime/patch/kept_patches.h"
#include "runtime/patch/module_code.h"
#include "runtime/run/compiled.h"
#include "runtime/run/handler_sets.h"
#include "runtime/run/site_rows.h"
#include "runtime/session/session.h"

namespace dj {

// FurtherPlan: as much of a Compiled as depends on the objects.
struct FurtherPlan {
  Plan plan;  // first_site and first_handler are set
  std::shared_ptr<const HandlerCode> code;
  bool is_shared = false;           // the code is an earlier plan's
  std::vector<SampleCall> samples;  // of timer.profile probes; none for objects that come later
};

// PlannedCode: the same of any plan of the session.
struct PlannedCode {
  const Plan& plan;
  const Image& image;
  const std::vector<HandlerAbi>& abis;
  std::vector<SampleCall> samples = {};
};

class FurtherPlans {
 public:
  // All references must outlive this object. `compiled` gets the new sites and spans, so that djtap
  // can write their events.
  FurtherPlans(Compiled& compiled, ModuleCodes& codes, Session& session)
      : compiled_(compiled), codes_(codes), session_(session) {}

  // Lowers a plan that resolve() has made, unless an earlier one had the same handlers, and adds it
  // to the session. modules: all of the process; has_rseq: of the process (TargetFacts).
  Result<FurtherPlan> compile(Plan plan, const std::vector<MappedModule>& modules, bool has_rseq);
  // The same of a whole program. It has the numbers of an earlier program that has the same sites,
  // as most have of a script that probes libraries alone.
  Result<FurtherPlan> compile_program(Plan plan, const std::vector<MappedModule>& modules,
                                      bool has_rseq);
  // Plans the detours of such a plan for one process. first_module: modules before it have no
  // place. kept: has the patches of processes of the same program; null: djtap keeps none.
  DetourPlan detours(const PlannedCode& code, const std::vector<MappedModule>& modules,
                     const TargetFacts& facts, size_t first_module, KeptPatches* kept = nullptr);
  Compiled& compiled() { return compiled_; }
  ModuleCodes& codes() { return codes_; }
  Session& session() { return session_; }

 private:
  FurtherPlan begin(Plan plan, const std::vector<MappedModule>& modules, bool has_rseq);
  Status add(FurtherPlan& further, bool has_rseq);
  void settle(Plan& plan);
  Result<std::shared_ptr<const HandlerCode>> compile_handlers(const Plan& plan, bool has_rseq);
  void remember(const FurtherPlan& further);
  Compiled& compiled_;
  ModuleCodes& codes_;
  Session& session_;
  HandlerSets sets_;
  SiteRows rows_;
  HandlerId next_handler_ = 0;
  std::set<std::string> told_;  // names of values that are cut
};

}  // namespace dj
