// SPDX-License-Identifier: Apache-2.0
// The text of a kernel's module (ext4, nf_tables, ...) as an ELF file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernel/kernel_memory.h"
#include "runtime/kernel/kernel_symbols.h"

namespace dj {

// Writes the module whose folder of /sys/module is `folder`. See LiveKernel::module(). Fails with
// Fail::NotFound where the module has been removed, or has no text.
Result<std::vector<uint8_t>> write_live_module(const std::string& folder, const std::string& name,
                                               const KernelSymbols& symbols,
                                               const KernelMemory& memory);

}  // namespace dj
