// SPDX-License-Identifier: Apache-2.0
// The script that --stress stands for: a counting probe on every function.
#pragma once
#include <string>

#include "compiler/stages/layout.h"

namespace dj {

// Of the functions that PATTERN, without quotes and backslashes, means: an array, counted up by the
// address of the function, whose name is looked for only when it is printed (stress.h).
std::string stress_script(const std::string& pattern);
// Limits under which no place is dropped, where the user has not set them.
void widen_for_stress(Limits& limits);

}  // namespace dj
