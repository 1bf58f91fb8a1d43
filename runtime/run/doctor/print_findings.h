// SPDX-License-Identifier: Apache-2.0
// Findings as text, and as one JSON object (docs/doctor.schema.json).
#pragma once
#include <string>

#include "runtime/run/doctor/finding.h"

namespace dj {

// Seen: what was looked at, and how it ended.
struct Seen {
  int pid = 0;          // of the target; 0: there is none, or it was not found
  std::string program;  // of a command
  int exit_code = 0;
};

std::string findings_text(const Findings& findings, const Seen& seen);
std::string findings_json(const Findings& findings, const Seen& seen);

}  // namespace dj
