// SPDX-License-Identifier: Apache-2.0
// --explain: what a diagnostic code means, with a wrong and a right script where there is one.
#pragma once
#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace dj {

// The text for "DJ2001", "dj2001" or "2001". An unknown code is an error that names the near ones.
Result<std::string> explain(std::string_view code);

}  // namespace dj
