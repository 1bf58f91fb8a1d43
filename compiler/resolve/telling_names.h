// SPDX-License-Identifier: Apache-2.0
// distinguish(): names in lists that mean one function each.
#pragma once
#include <span>

#include "compiler/resolve/module_set.h"
#include "compiler/stages/plan.h"

namespace dj {

// Of sites whose name means other functions of their object too, makes Site::function the whole
// name: "scale(int)", "twice<long>(long)", "::f(int)" beside ns::f(int).
void distinguish(std::span<Site> sites, ModuleSet& modules);

}  // namespace dj
