// SPDX-License-Identifier: Apache-2.0
// give_up_rights(): where djtap's rights end. With -p PID of a process that has fewer rights than
// djtap, or another user, djtap becomes its equal before it has read a byte of what that user can
// write (docs/design.md, "Trust").
#pragma once
#include <optional>

#include "runtime/command/options.h"

namespace dj {

// To be called while djtap has one thread, before the target is looked at. Changes nothing where
// djtap has no more rights than the target in the first place, with -c (a child has djtap's rights)
// and with --trust-target. Otherwise a broker keeps the rights (process/broker.h). Returns the exit
// code when djtap cannot go on; why is told then.
std::optional<int> give_up_rights(const Options& options);

// To be called when the target has been opened: fails if djtap has more rights than it, since the
// process has given up some, or its number is another's, after give_up_rights() had looked.
Status check_rights(const Options& options, pid_t pid);

}  // namespace dj
