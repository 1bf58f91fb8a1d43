// The StackTables of a session (runtime/shared/unwind.h), from the files of its mapped modules.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/result.h"
#include "compiler/stack_info.h"
#include "runtime/control/process.h"

namespace dj {

// How to read a module's file; compiler/debuginfo provides it.
using ReadStackInfo = std::function<Result<StackInfo>(const std::string& open_path)>;

// Reads all modules (side by side, as many as there are CPUs) and lays them out as one piece of
// memory that may lie at any 8-byte aligned address: all offsets count from its begin. A module
// that cannot be read is left out: walks end there. max_frames: MAXBACKTRACE.
std::vector<uint8_t> make_stack_tables(const std::vector<MappedModule>& modules,
                                       const ReadStackInfo& read, uint32_t max_frames);

}  // namespace dj
