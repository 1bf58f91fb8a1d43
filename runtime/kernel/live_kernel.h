// SPDX-License-Identifier: Apache-2.0
// LiveKernel writes the running kernel and its modules as ELF files, so that all that djtap knows
// of files (names, machine code, checks, caches) works on them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/kernel/kernel_memory.h"
#include "runtime/kernel/kernel_symbols.h"

namespace dj {

// KernelFiles: where a kernel shows itself. Tests have files of their own.
struct KernelFiles {
  std::string symbols = "/proc/kallsyms", memory = "/proc/kcore", notes = "/sys/kernel/notes";
  std::string loaded = "/proc/modules", modules = "/sys/module";
  std::string types = "/sys/kernel/btf";
};

class LiveKernel {
 public:
  // Reads the names; later calls read memory.
  static Result<LiveKernel> open(const KernelFiles& files = {});

  // Returns the bytes of the kernel's file. It holds the kernel's functions, its text as the kernel
  // executes it now, its constant data, the four tables of instructions
  // (compiler/debuginfo/kernel_tables.h) and its build-id. Its addresses are those of the running
  // kernel, so they are loaded at bias 0: instructions and data of the text hold such addresses,
  // and nothing tells where. The functions of modules are not in it.
  Result<std::vector<uint8_t>> kernel() const;
  // Returns the bytes of a module's file, which has the same of the module. What its jumps lead to
  // in the kernel and in other modules are functions of no section, with their names. The code that
  // started the module is not in it: the kernel has freed it. Only the text has a segment, as a
  // module's data and tables may lie on the other side of another module. Fails with Fail::NotFound
  // where the kernel has no such module, has removed it meanwhile, or the module has no text.
  Result<std::vector<uint8_t>> module(const std::string& name) const;
  // Returns the names of the modules that are loaded and have started, as /proc/modules lists them.
  Result<std::vector<std::string>> modules() const;

 private:
  LiveKernel(KernelFiles files, KernelSymbols symbols, KernelMemory memory)
      : files_(std::move(files)), symbols_(std::move(symbols)), memory_(std::move(memory)) {}

  KernelFiles files_;
  KernelSymbols symbols_;
  KernelMemory memory_;
};

// LiveKernel::kernel() alone.
Result<std::vector<uint8_t>> make_live_kernel(const KernelFiles& files = {});

}  // namespace dj
