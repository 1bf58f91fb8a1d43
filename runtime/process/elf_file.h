// SPDX-License-Identifier: Apache-2.0
// ElfFile holds the facts of an ELF file that placing and launching need: headers and segments.
// find_symbol() finds its symbols.
#pragma once
#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/base/target_file.h"

namespace dj {

// ElfFile holds the headers of one ELF file; read_elf() reads them once.
struct ElfFile {
  Elf64_Ehdr header = {};
  std::vector<Elf64_Phdr> segments;
  std::string interpreter;  // PT_INTERP, empty: none
  bool has_tls = false;     // PT_TLS
};

// Reads the headers of a file. Fails with Fail::Unsupported if it is no x86-64 ELF file, with
// NotFound or Permission if djtap cannot read it.
Result<ElfFile> read_elf(const std::string& path);
// Reads those of an open file. path: for messages.
Result<ElfFile> read_elf(const TargetFile& file, const std::string& path);

struct ElfSymbol {
  uint64_t address = 0, size = 0;  // ELF address; bytes
};
// Returns the first defined symbol of this name, without its version, in .dynsym or .symtab, in the
// file's order. Fails like read_elf(), and with NotFound if no such symbol has an address.
Result<ElfSymbol> find_symbol(const std::string& path, const std::string& name);
Result<ElfSymbol> find_symbol(const TargetFile& file, const std::string& path,
                              const std::string& name);

// Whether the loader writes to the file's code when it opens the file (DT_TEXTREL). False if djtap
// cannot read the file.
bool has_text_relocations(const std::string& path);

// Returns the DT_NEEDED names of a file; empty if it has none or djtap cannot read it.
std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace dj
