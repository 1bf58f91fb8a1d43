// SPDX-License-Identifier: Apache-2.0
// reader_of(): whose rights decide which files a target's files may name (target_file.h).
#pragma once
#include <sys/types.h>

#include <optional>

#include "compiler/base/target_file.h"

namespace dj {

// The rights and the root of a process. Nothing: they are djtap's own, or djtap is not root and
// reads what its user may read anyway.
std::optional<FileReader> reader_of(pid_t pid);

}  // namespace dj
