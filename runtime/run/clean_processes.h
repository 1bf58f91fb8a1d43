// SPDX-License-Identifier: Apache-2.0
// clean_these() and clean_all() run `djtap clean`: they take out what djtaps that were killed have
// left in processes.
#pragma once
#include "runtime/command/choices.h"
#include "runtime/run/give_up_rights.h"

namespace dj {

// Cleans the processes of target.pids and those that share a session's memory with them. Of several
// each is cleaned by a child of djtap, as clean_all() does it. Returns the exit code: a failure's,
// if one of them was not cleaned.
int clean_these(const TargetChoices& target, const NeededFiles& files);

// Cleans all processes that have memory of a session and whose memory maps djtap may read. Leaves
// those alone that a running djtap probes, and says so. Each is cleaned by a child of djtap, which
// gives up the rights that the process has not. Call it while djtap has one thread. Returns the
// exit code: a failure's, if one of them was not cleaned.
int clean_all(const TargetChoices& target, const NeededFiles& files);

}  // namespace dj
