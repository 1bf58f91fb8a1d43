// SPDX-License-Identifier: Apache-2.0
// trace() runs the middle of the session: the target runs, and events become text.
#pragma once
#include <optional>

#include "runtime/output/drain.h"
#include "runtime/run/added_probes.h"
#include "runtime/run/arming.h"
#include "runtime/run/further.h"
#include "runtime/run/host_probes.h"
#include "runtime/run/prepared.h"
#include "runtime/session/control_socket.h"
#include "runtime/session/jit_watch.h"
#include "runtime/session/loop.h"
#include "runtime/session/monitor.h"

namespace dj {

// Tracing holds everything that takes part while the target runs.
struct Tracing {
  const Prepared& prepared;
  Session& session;
  Drain& drain;
  Output& output;
  Monitor* monitor;  // null: none
  int pidfd;         // -1: there is no target
  std::optional<ControlSocket>& control;
  HostProbes& host_probes;
  ArmingWatch& arming;
  JitWatch* jit;  // null: no handler names code
  Further further;
  AddedProbes& added;
};

// Returns when the session must end, and says why.
Result<Ended> trace(const Tracing& tracing, const SessionChoices& steering);

}  // namespace dj
