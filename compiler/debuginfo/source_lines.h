// SPDX-License-Identifier: Apache-2.0
// Source lines and inlined calls of one module, for handlers that name stacks. Only for this room.
#pragma once
#include "compiler/debuginfo/object_file.h"
#include "compiler/stages/stack_info.h"

namespace dj {

// Adds what the file's DWARF says; nothing when it has none. out.base is set.
void read_source_lines(const ObjectFile& elf, StackInfo& out);

}  // namespace dj
