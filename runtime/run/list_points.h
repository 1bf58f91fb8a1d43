// SPDX-License-Identifier: Apache-2.0
// -l, -L and --source: what could be probed. No handler is made, the target is not touched.
#pragma once
#include "runtime/command/options.h"

namespace dj {

// Prints the probe points that options.list matches, or with options.list_source a function's
// source. Returns the exit code.
int list_points(const Options& options);

}  // namespace dj
