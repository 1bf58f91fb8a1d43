// SPDX-License-Identifier: Apache-2.0
// own_text() reads a file that the user names on the command line, by the user's own rights
// (process/own_files.h).
#pragma once
#include <string>

#include "compiler/base/result.h"

namespace dj {

// Returns the whole text of the file. Fails with a sentence that names it.
Result<std::string> own_text(const std::string& path);

}  // namespace dj
