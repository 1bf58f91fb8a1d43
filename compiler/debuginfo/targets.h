// SPDX-License-Identifier: Apache-2.0
// Target expressions: $x->y[1] step by step from a variable's place to the value wanted. Only for
// this room.
#pragma once
#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/dwarf_index.h"

namespace dj {

TargetAnswer resolve_target(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                            DwarfIndex& index);
// $x$ and $x$$. function may be null where the expression does not need one (@cast, @var), also
// for resolve_target().
TextAnswer resolve_pretty(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                          DwarfIndex& index);
// $$parms and its like.
TextAnswer resolve_text(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                        DwarfIndex& index);

}  // namespace dj
