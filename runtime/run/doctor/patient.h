// SPDX-License-Identifier: Apache-2.0
// Patient holds the target as a session finds it before it changes anything, and what each of the
// session's checks says of it. look_at() stops the target for a moment, as a session does.
#pragma once
#include <optional>
#include <string>

#include "runtime/command/choices.h"
#include "runtime/run/doctor/finding.h"
#include "runtime/patch/module_code.h"
#include "runtime/target/process/process_target.h"

namespace dj {

// PatientThreads holds what look_at() has seen of the target's threads while they stood.
struct PatientThreads {
  size_t count = 0;
  Status borrowed = ok_status();          // RemoteCall::check()
  Status uncaught = ok_status();          // check_uncaught()
  Status control_blocks = ok_status();    // check_control_blocks()
  Result<uint64_t> denied = uint64_t{0};  // denied_by_filters()
  Result<bool> rows = false;              // may_have_rows()
  Result<uint64_t> small_stack = uint64_t{0};  // small_signal_stack(), and least_signal_stack()
  uint64_t least_stack = 0;
  bool confined = false;  // some thread is under seccomp
};

struct Patient {
  const TargetChoices& target;
  const Limits& limits;
  TracedProcess& process;
  ModuleCodes& codes;
  PatientThreads threads;

  // How many earlier sessions were killed, or have left memory; the error says why djtap cannot
  // look.
  Result<size_t> earlier = size_t{0};

  bool use_rseq = false;  // can_trust_rseq()
  std::string no_rseq;    // why not
};

// Looks at the target and fills in the patient. Fails if a session could not stop the target.
Status look_at(Patient& patient);

// Add the rows of the target itself, of room in its memory, and of its objects' files.
void examine_target(Patient& patient, Findings& findings);
void examine_room(Patient& patient, Findings& findings);
void examine_objects(Patient& patient, Findings& findings);

}  // namespace dj
