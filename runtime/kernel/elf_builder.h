// SPDX-License-Identifier: Apache-2.0
// ElfBuilder makes an ELF file in memory: sections at addresses, notes, and function symbols.
#pragma once
#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

class ElfBuilder {
 public:
  // `sections`: how many will be added by add().
  explicit ElfBuilder(size_t sections);

  // Adds a section of `bytes` bytes at an address and a segment that loads it; returns where its
  // bytes go, valid until the next call.
  std::span<uint8_t> add(const std::string& name, uint64_t address, uint64_t bytes, bool is_code);
  // Adds a section with an address and no segment: nothing else may count its memory as the file's.
  std::span<uint8_t> add_apart(const std::string& name, uint64_t address, uint64_t bytes);
  void add_notes(std::span<const char> notes);
  // A function of the section that was added first.
  void add_function(uint64_t address, uint64_t bytes, std::string_view name, bool is_global);
  // A function of another file.
  void add_function_outside(uint64_t address, std::string_view name);
  // Returns the file. Call it last.
  std::vector<uint8_t> finish();

 private:
  uint64_t append(std::span<const uint8_t> bytes);
  void align(uint64_t to, uint64_t rest);
  void add_section(const std::string& name, const Elf64_Shdr& header);
  Elf64_Sym function_symbol(uint64_t address, std::string_view name, bool is_global);
  void add_symbols();

  std::vector<uint8_t> file_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;  // of the sections
  std::vector<Elf64_Sym> locals_, globals_;
  std::string symbol_names_;
};

}  // namespace dj
