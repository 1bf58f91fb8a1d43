// SPDX-License-Identifier: Apache-2.0
// Unsized functions: those whose symbols do not say where they end, as of assembly without .size.
#pragma once
#include <vector>

#include "compiler/debuginfo/symbols.h"

namespace dj {

// Gives each function of size 0 a size: that of its entry in .eh_frame, else up to the last
// instruction that its own jumps and steps reach before the next function. So data that lie behind
// it in the text are none of it. With a jump to a computed place it ends where the next begins, and
// keeps size 0.
void settle_sizes(const ObjectFile& elf, std::vector<Symbol>& functions);

}  // namespace dj
