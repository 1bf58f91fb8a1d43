// SPDX-License-Identifier: Apache-2.0
// Call frame information and function names of one module, for handlers that walk stacks:
// .eh_frame, evaluated by libdw ahead of time.
#pragma once
#include <string>

#include "compiler/base/result.h"
#include "compiler/stages/stack_info.h"

namespace dj {

// Fails when the file cannot be read. A module without .eh_frame has no rows. lines: source lines
// and inlined calls too, which takes longer.
Result<StackInfo> read_stack_info(const std::string& path, bool lines);

}  // namespace dj
