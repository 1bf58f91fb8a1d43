// SPDX-License-Identifier: Apache-2.0
// DlopenWatch probes objects that the target opens during the session: it resolves, compiles and
// arms the script's probe points that mean them, before the loader lets any of their code run.
#pragma once
#include "compiler/diag/source.h"
#include "runtime/command/choices.h"
#include "runtime/run/compiled.h"
#include "runtime/session/session.h"

namespace dj {

class ModuleCodes;

class DlopenWatch {
 public:
  // `compiled` gets the new sites and spans, so that djtap can write their events. names_skipped:
  // warns of places that djtap cannot probe.
  DlopenWatch(const StageChoices& stages, bool names_skipped, Compiled& compiled, Session& session,
              ModuleCodes& codes)
      : stages_(stages),
        names_skipped_(names_skipped),
        compiled_(compiled),
        session_(session),
        codes_(codes) {}
  // Whether the script means objects that come later, and djtap can see them come.
  bool is_on() const { return compiled_.plan.awaits_objects && session_.target() != nullptr; }
  // Probes what the target has opened while djtap prepared. Call it once, when the target runs.
  void look();
  // Probes new objects and answers the loader, if the loader waits for that. Returns whether it
  // looked. Call it in every round of the session's loop.
  bool poll();

 private:
  Status probe_new_objects();
  void name_stacks(const DlopenedObjects& objects);
  Status arm(const DlopenedObjects& objects, Plan& plan);
  const StageChoices& stages_;
  bool names_skipped_;
  Compiled& compiled_;
  Session& session_;
  ModuleCodes& codes_;
  HandlerId next_handler_ = 0;
};

}  // namespace dj
