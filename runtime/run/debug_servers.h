// SPDX-License-Identifier: Apache-2.0
// let_servers_be_asked() and the others decide whether and how djtap asks debuginfod servers for
// debug files that a script needs (DEBUGINFOD_URLS).
#pragma once
#include <sys/types.h>

#include "runtime/command/choices.h"

namespace dj {

// Lets djtap ask the servers that the environment names for files from here on.
void let_servers_be_asked(const FileChoices& files);
// Removes from the environment what another user must not see of the servers. Call it before djtap
// takes that user's rights.
void hide_servers_secrets();
// Makes files go to this user's own cache, in /var/tmp if the user has no home. Call it when djtap
// has taken that user's rights.
void ask_servers_as(uid_t user);

// Says which debug files have come too late for the session. Call it when the session has ended.
void report_late_debug_files();

}  // namespace dj
