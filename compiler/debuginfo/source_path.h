// SPDX-License-Identifier: Apache-2.0
// Paths of source files as a probe point gives them, and as debug information writes them: often
// relative to the folder in which the compiler ran.
#pragma once
#include <string>
#include <string_view>

#include "compiler/debuginfo/pattern.h"

namespace dj {

// path_matches(), also where the pattern is a whole path and `path` is relative to `folder`.
bool source_path_matches(std::string_view pattern, std::string_view path, std::string_view folder);

}  // namespace dj
