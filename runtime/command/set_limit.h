// SPDX-License-Identifier: Apache-2.0
// Limits by name, as -D gives them.
#pragma once
#include <string>

#include "compiler/stages/layout.h"

namespace dj {

// setting: "NAME=NUMBER". Throws a UsageError where it is none. SystemTap's limits that djtap does
// not need are taken and change nothing.
void set_limit(Limits& limits, const std::string& setting);

}  // namespace dj
