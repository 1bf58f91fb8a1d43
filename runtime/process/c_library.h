// SPDX-License-Identifier: Apache-2.0
// The C library of a process.
#pragma once
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// glibc or musl; of a program without a loader the program itself. Null: there is none that djtap
// knows.
const MappedModule* c_library(const std::vector<MappedModule>& modules);

}  // namespace dj
