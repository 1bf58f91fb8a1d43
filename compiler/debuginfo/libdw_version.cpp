// SPDX-License-Identifier: Apache-2.0
// Asks libdw itself.
#include "compiler/debuginfo/libdw_version.h"

#include <elfutils/libdwfl.h>

namespace dj {

const char* libdw_version() { return dwfl_version(nullptr); }

}  // namespace dj
