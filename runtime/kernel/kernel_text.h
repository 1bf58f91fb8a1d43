// SPDX-License-Identifier: Apache-2.0
// What make_live_kernel() and make_live_module() do alike: text of the running kernel, and the
// functions in it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/kernel/elf_builder.h"
#include "runtime/kernel/kernel_memory.h"
#include "runtime/kernel/kernel_symbols.h"

namespace dj {

// Fills `text` with the bytes at `address`, as the kernel executes them.
Status read_kernel_text(const KernelMemory& memory, uint64_t address, std::span<uint8_t> text);

// Adds the functions among `symbols` (sorted by address) that lie in the text at `begin` to `elf`.
// A function ends where the next symbol begins, or a section (`ends`: their begins, sorted), or the
// text; less the padding in front of that: int3, and zeros in front of a section.
void add_kernel_functions(const std::vector<KernelSymbol>& symbols, uint64_t begin,
                          std::span<const uint8_t> text, const std::vector<uint64_t>& ends,
                          ElfBuilder& elf);

}  // namespace dj
