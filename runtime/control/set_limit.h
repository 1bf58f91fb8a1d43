// Limits by name, as -D gives them.
#pragma once
#include <string>

#include "runtime/control/options.h"

namespace dj {

// setting: "NAME=NUMBER". What is wrong with it; empty: nothing is. SystemTap's limits that djtap
// does not need are taken and change nothing.
std::string set_limit(Limits& limits, const std::string& setting);

}  // namespace dj
