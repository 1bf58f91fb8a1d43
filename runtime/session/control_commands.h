// SPDX-License-Identifier: Apache-2.0
// run_control_command() runs the commands of --control, which tell and change which probes of the
// session run now:
//   list [N|GLOB]      every site, or those meant: the number, and the line of --probes; a site
//                      with several handlers has a line for each: N.0, N.1 ...
//   enable N|GLOB      the site or handler with this number, or all sites whose symbol matches
//   disable N|GLOB
//   add SCRIPT         adds the probes of SCRIPT, which ends with the line
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "runtime/session/control_socket.h"
#include "runtime/session/session.h"

namespace dj {

// Runs one line of a client; takes and gives what ControlSocket::Run does. add: runs `add`, and
// takes the script.
ControlSocket::Answer run_control_command(Session& session, const ControlSocket::Run& add,
                                          const std::string& line);

}  // namespace dj
