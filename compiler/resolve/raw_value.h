// SPDX-License-Identifier: Apache-2.0
// Values that need no debug info: registers, and arguments by their number.
#pragma once
#include "compiler/debuginfo/debug_info.h"

namespace dj {

// expr.base is Register or Argument. Arguments exist at a function's entry only.
TargetAnswer raw_value(const TargetExpr& expr, const ProbePlace& place);

}  // namespace dj
