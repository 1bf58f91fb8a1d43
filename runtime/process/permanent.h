// SPDX-License-Identifier: Apache-2.0
// Which modules cannot be unmapped while the process lives: the program and what it was linked
// with. Text of others may only be written while all threads stand: a dlclose() could put something
// else there at any moment.
#pragma once
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// By module. Follows DT_NEEDED from the program; what cannot be read is taken for temporary.
std::vector<bool> permanent_modules(const std::vector<MappedModule>& modules);

}  // namespace dj
