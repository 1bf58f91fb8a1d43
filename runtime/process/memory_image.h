// SPDX-License-Identifier: Apache-2.0
// memory_image() makes an ELF file of what a process has mapped of one. It is for files that djtap
// cannot open any more: removed or replaced while the program runs (an upgrade), in a memfd that
// the program has closed, or executable but not readable. The image has the code, the exported
// symbols, call frame information and the build-id. It lacks what no program needs when it runs:
// debug information and the names of static functions.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"

namespace dj {

// Returns the mapping of the first page of the file that `m` maps a part of; null: that page is not
// mapped, or the file is no ELF file.
const Mapping* first_page(const RunningMemory& memory, const std::vector<Mapping>& maps,
                          const Mapping& m);
// Returns the file's bytes. Empty: memory holds too little to identify the file by.
std::optional<std::vector<uint8_t>> memory_image(const RunningMemory& memory, const Mapping& first);

}  // namespace dj
