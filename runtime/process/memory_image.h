// SPDX-License-Identifier: Apache-2.0
// An ELF file made of what a process has mapped of it, for files that nobody may open any more:
// removed or replaced while the program runs (an upgrade), in a memfd that was closed, executable
// but not readable. It has the code, what is exported, call frame information and the build-id;
// what no program needs when it runs (debug information, names of static functions) is not there.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"

namespace dj {

// The first page of the file that `m` maps a part of; null: it is not mapped, or that is no ELF
// file.
const Mapping* first_page(const RunningMemory& memory, const std::vector<Mapping>& maps,
                          const Mapping& m);
// The file's bytes. Empty: what is in memory is not enough to know it by.
std::optional<std::vector<uint8_t>> memory_image(const RunningMemory& memory, const Mapping& first);

}  // namespace dj
