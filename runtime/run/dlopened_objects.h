// SPDX-License-Identifier: Apache-2.0
// DlopenWatch probes objects that the target opens during the session: it resolves, compiles and
// arms the script's probe points that mean them, before the loader lets any of their code run.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/run/compiled.h"
#include "runtime/run/further_plans.h"
#include "runtime/run/joined_processes.h"
#include "runtime/session/session.h"

namespace dj {

class DlopenWatch {
 public:
  // names_skipped: warns of places that djtap cannot probe.
  DlopenWatch(const StageChoices& stages, bool names_skipped, Compiled& compiled, Session& session,
              FurtherPlans& plans, JoinedProcesses& joined)
      : stages_(stages),
        names_skipped_(names_skipped),
        compiled_(compiled),
        session_(session),
        plans_(plans),
        joined_(joined) {}
  // Whether the script means objects that come later, and djtap can see them come.
  bool is_on() const { return compiled_.plan.awaits_objects && session_.target() != nullptr; }
  // Probes what the processes have opened while djtap prepared. Call it once, when they run.
  void look();
  // Probes new objects and answers the loaders, if one waits for that. Returns whether it looked.
  // Call it in every round of the session's loop.
  bool poll();

 private:
  void look(Target& target);
  Status probe_new_objects(Target& target);
  void name_stacks(const Target& target, const DlopenedObjects& objects);
  Status arm(Target& target, const DlopenedObjects& objects, Plan plan);
  const StageChoices& stages_;
  bool names_skipped_;
  Compiled& compiled_;
  Session& session_;
  FurtherPlans& plans_;
  JoinedProcesses& joined_;
};

}  // namespace dj
