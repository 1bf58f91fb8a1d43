// SPDX-License-Identifier: Apache-2.0
// set_limit() sets one limit by name, as -D gives it.
#pragma once
#include <string>

#include "compiler/stages/layout.h"

namespace dj {

// setting: "NAME=NUMBER". Throws a UsageError if it has another form or names no limit. Accepts
// SystemTap's limits that djtap does not need; they change nothing.
void set_limit(Limits& limits, const std::string& setting);

}  // namespace dj
