// SPDX-License-Identifier: Apache-2.0
// c_library() finds the C library of a process.
#pragma once
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the module of glibc or musl; for a program without a loader, the program itself. Null:
// the process has no C library that djtap knows.
const MappedModule* c_library(const std::vector<MappedModule>& modules);

}  // namespace dj
