// Call frame information and function names of one module, for handlers that walk stacks:
// .eh_frame, evaluated by libdw ahead of time.
#pragma once
#include <string>

#include "compiler/result.h"
#include "compiler/stack_info.h"

namespace dj {

// Fails when the file cannot be read. A module without .eh_frame has no rows.
Result<StackInfo> read_stack_info(const std::string& path);

}  // namespace dj
