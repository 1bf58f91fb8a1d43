// SPDX-License-Identifier: Apache-2.0
// command_words() splits the command of -c into words.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// Returns the words as a shell splits them; runs nothing. Fails if the text is empty, needs a
// shell, names an undefined variable or has unbalanced quotes.
Result<std::vector<std::string>> command_words(const std::string& text);

}  // namespace dj
