// SPDX-License-Identifier: Apache-2.0
// reader_of(): whose rights decide which files a target's files may name (target_file.h).
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "compiler/base/target_file.h"

namespace dj {

// The rights and the root of a process; of a djtap that is not root the root alone, since it reads
// what its user may read anyway. Nothing: they are djtap's own.
std::optional<FileReader> reader_of(pid_t pid);
// Where its root folder lies by the names of its mappings; "/": they are names in it.
std::string root_name_of(pid_t pid);

}  // namespace dj
