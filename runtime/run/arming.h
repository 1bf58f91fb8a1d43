// SPDX-License-Identifier: Apache-2.0
// ArmingWatch switches the probes whose arming condition only djtap's own handlers can change
// (compiler/check/arming.h), each time such a handler has run.
#pragma once
#include <set>
#include <vector>

#include "runtime/run/compiled.h"

namespace dj {

class ArmingWatch {
 public:
  ArmingWatch(const Compiled& compiled, Session& session);
  // Evaluates the conditions and switches the probes whose condition has changed, before it
  // returns; tells an error on stderr. Call it after a handler of djtap has run, and when objects
  // have come later.
  void look();

 private:
  struct Watched {
    Arming arming;
    HandlerId test = 0;
    bool armed = true;
  };
  std::set<HandlerAt> handlers_of(ProbeId probe) const;
  const Compiled& compiled_;
  Session& session_;
  std::vector<Watched> watched_;
  size_t dlopened_ = 0;  // objects that came later, as of the last look
};

}  // namespace dj
