// SPDX-License-Identifier: Apache-2.0
// The words of -c's command.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// As a shell splits them, without running anything.
Result<std::vector<std::string>> command_words(const std::string& text);

}  // namespace dj
