// SPDX-License-Identifier: Apache-2.0
// make_live_kernel() writes the running kernel as an ELF file, so that all that djtap knows of
// files (names, machine code, checks, caches) works on the kernel.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// KernelFiles: where a kernel shows itself. Tests have files of their own.
struct KernelFiles {
  std::string symbols = "/proc/kallsyms", memory = "/proc/kcore", notes = "/sys/kernel/notes";
};

// Returns the bytes of the file. It holds the kernel's functions, its text as the kernel executes
// it now, its constant data, the four tables of instructions (compiler/debuginfo/kernel_tables.h)
// and its build-id. Its addresses are those of the running kernel, so they are loaded at bias 0:
// instructions and data of the text hold such addresses, and nothing tells where. The functions of
// modules are not in it.
Result<std::vector<uint8_t>> make_live_kernel(const KernelFiles& files = {});

}  // namespace dj
