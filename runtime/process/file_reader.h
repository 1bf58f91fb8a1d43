// SPDX-License-Identifier: Apache-2.0
// reader_of() tells whose rights decide which files a target's files may name (target_file.h).
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "compiler/base/target_file.h"

namespace dj {

// Returns the rights and the root folder of a process. For a djtap that is not root it returns the
// root folder alone, since djtap reads only what its user may read. Empty: they are djtap's own.
std::optional<FileReader> reader_of(pid_t pid);
// Returns where the process's root folder lies in terms of the names of its mappings; "/": those
// are names in the root folder.
std::string root_name_of(pid_t pid);

}  // namespace dj
