// SPDX-License-Identifier: Apache-2.0
// ElfFile: the few facts of an ELF file that placing and launching need: headers, segments,
// exported symbols.
#pragma once
#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// ElfFile: headers of one ELF file; read once, never looks at the file again.
struct ElfFile {
  Elf64_Ehdr header = {};
  std::vector<Elf64_Phdr> segments;
  std::string interpreter;  // PT_INTERP, empty: none
  bool has_tls = false;     // PT_TLS
};

// Fails with Fail::Unsupported for what is no x86-64 ELF file, with NotFound or Permission if it
// cannot be read.
Result<ElfFile> read_elf(const std::string& path);

struct ElfSymbol {
  uint64_t address = 0, size = 0;  // ELF address; bytes
};
// The first defined symbol of this name, without its version, in .dynsym or .symtab, in the file's
// order. Fails as read_elf() does, and with NotFound where there is none with an address.
Result<ElfSymbol> find_symbol(const std::string& path, const std::string& name);

// Does the loader write to the file's code when it opens it (DT_TEXTREL)? False if it cannot be read.
bool has_text_relocations(const std::string& path);

// DT_NEEDED names of a file; empty if it has none or cannot be read.
std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace dj
