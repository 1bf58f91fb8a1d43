// SPDX-License-Identifier: Apache-2.0
// permanent_modules() tells which modules stay mapped while the process lives: the program and the
// libraries that it was linked with. djtap may write the text of other modules only while all
// threads stand: a dlclose() could put something else there at any moment.
#pragma once
#include <vector>

#include "runtime/process/mapped_module.h"

namespace dj {

// Returns a flag for each of `modules`. Follows DT_NEEDED from the program. A file that djtap
// cannot read counts as temporary.
std::vector<bool> permanent_modules(const std::vector<MappedModule>& modules);

}  // namespace dj
