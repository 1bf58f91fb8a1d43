// SPDX-License-Identifier: Apache-2.0
// AddedProbes runs the command `add` of --control: it compiles probes that are added to the running
// session, and arms them in all of its processes.
#pragma once
#include <string>

#include "compiler/check/check.h"
#include "runtime/output/drain.h"
#include "runtime/run/further.h"
#include "runtime/run/further_plans.h"
#include "runtime/run/host_probes.h"
#include "runtime/run/prepared.h"
#include "runtime/session/control_socket.h"
#include "runtime/session/session.h"

namespace dj {

class AddedProbes {
 public:
  // All references must outlive this object.
  AddedProbes(const Prepared& prepared, Session& session, Drain& drain, HostProbes& host_probes,
              FurtherPlans& plans, const Further& further)
      : prepared_(prepared),
        session_(session),
        drain_(drain),
        host_probes_(host_probes),
        plans_(plans),
        further_(further) {}

  // Adds the probes of `text` to the session's script. The answer says where they are. When it
  // fails, it says why, and the session is as it was.
  ControlSocket::Answer add(const std::string& text);

 private:
  Status compile(const std::string& text, Diags& diags, ProbeId& first);
  Program check(ProbeId first, const DoubleTargets& doubles, Diags& diags) const;
  bool settle(Program& next, ProbeId first, DoubleTargets& doubles, Diags& diags) const;
  Status lower_hosts(ProbeId first);
  Status add_memory(size_t first_global);
  std::string arm(ProbeId first, size_t first_host);
  void serve();

  const Prepared& prepared_;
  Session& session_;
  Drain& drain_;
  HostProbes& host_probes_;
  FurtherPlans& plans_;
  Further further_;
};

}  // namespace dj
