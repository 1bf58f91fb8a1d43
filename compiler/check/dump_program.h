// SPDX-License-Identifier: Apache-2.0
// Dump of a Program: what --dump=program prints and the golden tests compare.
#pragma once
#include <string>

#include "compiler/stages/program.h"

namespace dj {

// Globals are written @name, locals %name, target expressions as in the script; types stand where
// names are listed, operators are fully parenthesised.
std::string dump(const Program& program);

}  // namespace dj
