// SPDX-License-Identifier: Apache-2.0
// findings_text() and findings_json() write findings as text, and as one JSON object
// (docs/doctor.schema.json).
#pragma once
#include <string>

#include "runtime/run/doctor/finding.h"

namespace dj {

// Seen says what the doctor has looked at, and how that ended.
struct Seen {
  int pid = 0;          // of the target; 0: there is none, or it was not found
  std::string program;  // of a command
  int exit_code = 0;
};

std::string findings_text(const Findings& findings, const Seen& seen);
std::string findings_json(const Findings& findings, const Seen& seen);

}  // namespace dj
