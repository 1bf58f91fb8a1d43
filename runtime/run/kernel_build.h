// SPDX-License-Identifier: Apache-2.0
// build_for_kernel() runs `djtap kernel-build`.
#pragma once
#include <string>

#include "runtime/command/choices.h"

namespace dj {

// Builds djtap's kernel module, unless one of the same sources and headers is kept, and prints its
// path. output_path: the file of -o; empty: it is kept for sessions, which root alone can do.
// Returns the exit code.
int build_for_kernel(const KernelBuildChoices& choices, const std::string& output_path);

}  // namespace dj
