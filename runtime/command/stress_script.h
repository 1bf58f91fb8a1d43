// SPDX-License-Identifier: Apache-2.0
// stress_script() makes the script that --stress stands for: a counting probe on every function.
#pragma once
#include <string>

#include "compiler/stages/layout.h"

namespace dj {

// Whether "kernel" is what is stressed: the running kernel, not a function of that name.
bool stresses_kernel(const std::string& pattern);
// Returns the script that counts the calls of each function that PATTERN, without quotes and
// backslashes, means. It counts in an array by the function's address; djtap looks for a name only
// when it prints it (stress.h). Of the kernel it counts all calls together.
std::string stress_script(const std::string& pattern);
// Sets the limits that the user has not set so that djtap drops no place.
void widen_for_stress(Limits& limits);

}  // namespace dj
