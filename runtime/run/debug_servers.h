// SPDX-License-Identifier: Apache-2.0
// Whether and how debuginfod servers are asked for what a script lacks (DEBUGINFOD_URLS).
#pragma once
#include <sys/types.h>

#include "runtime/command/choices.h"

namespace dj {

// From here on files of the servers that the environment names may be asked for.
void let_servers_be_asked(const FileChoices& files);
// To be called before djtap takes another user's rights: what that user must not see of the servers
// leaves the environment.
void hide_servers_secrets();
// To be called when djtap has taken that user's rights: the files go to this user's own cache,
// in /var/tmp where the user has no home.
void ask_servers_as(uid_t user);

// To be called when the session has ended: says which debug files have come too late for it.
void report_late_debug_files();

}  // namespace dj
