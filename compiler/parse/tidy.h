// SPDX-License-Identifier: Apache-2.0
// tidy(): the formatter behind --fmt. Line breaks stay where the author put them; indentation,
// blanks and empty lines become uniform, comments, macros and conditionals stay, and "< ... >"
// bodies become braces.
#pragma once
#include <string>

#include "compiler/diag/diag.h"
#include "compiler/diag/source.h"

namespace dj {

// File `file` in tidy form. What cannot be read as tokens is reported, and comes back as it was.
// The result has the same tokens (angle brackets apart) and is tidy itself: tidy(tidy(x)) =
// tidy(x).
std::string tidy(const Sources& sources, uint32_t file, Diags& diags);

}  // namespace dj
