// SPDX-License-Identifier: Apache-2.0
// Objects that the target opens while it is traced: the probe points of the script that mean them
// are resolved, compiled and armed before the loader lets any of their code run.
#pragma once
#include "compiler/diag/source.h"
#include "runtime/command/choices.h"
#include "runtime/run/compiled.h"
#include "runtime/session/session.h"

namespace dj {

class ModuleCodes;

class DlopenWatch {
 public:
  // `compiled` gets the new sites and spans, so that events of theirs can be told.
  // names_skipped: warn of places that cannot be probed.
  DlopenWatch(const StageChoices& stages, bool names_skipped, Compiled& compiled, Session& session,
              ModuleCodes& codes)
      : stages_(stages),
        names_skipped_(names_skipped),
        compiled_(compiled),
        session_(session),
        codes_(codes) {}
  // Does the script mean objects that come later, and can they be seen?
  bool is_on() const { return compiled_.plan.awaits_objects && session_.target() != nullptr; }
  // Once, when the target runs: what it opened while djtap prepared.
  void look();
  // Again and again: when the loader has spoken, looks and answers. True if it looked.
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
