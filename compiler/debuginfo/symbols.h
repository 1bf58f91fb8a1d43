// SPDX-License-Identifier: Apache-2.0
// Symbols: the functions (and named data) that an ELF file and its separate debug file list.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

// One defined symbol. `name`, without version, points into the file that holds it.
struct Symbol {
  uint64_t address = 0;  // ELF virtual address
  uint64_t size = 0;     // 0: the file does not say
  std::string_view name;
  uint8_t binding = STB_LOCAL;
  bool ifunc = false;    // `address` is the resolver's
  bool jump = false;     // to the function of that name, which is elsewhere (settle_checked)
  bool untyped = false;  // a label of assembly (untyped.h)
};

// SymbolTable: all function symbols of one module, in table order, aliases included. The names live
// as long as the files it was read from (`debug_file` is kept here) and this object.
struct SymbolTable {
  std::vector<Symbol> functions;
  std::vector<Symbol> pieces;  // blocks of functions that are code of their own; named as these
  bool complete = false;       // local functions are listed too
  std::shared_ptr<ObjectFile> debug_file;
  std::deque<std::string> names;  // of symbols unpacked from .gnu_debugdata
};

// Reads .symtab; without one that of the separate debug file; without that .dynsym,
// .gnu_debugdata and the table of Go's runtime. Servers are asked where these would be incomplete.
SymbolTable read_symbols(const ObjectFile& elf, Ask whom = Ask::Nobody);
// The function symbols of the file's own tables only; enough to know where code begins.
std::vector<Symbol> own_symbols(const ObjectFile& elf);
// The function symbols that are in no section of the file, by its .symtab: code of other files.
std::vector<Symbol> functions_outside(const ObjectFile& elf);
// Addresses of the functions that other objects can bind to, or the kernel's modules; sorted.
std::vector<uint64_t> exported_functions(const ObjectFile& elf);
// The data symbol `name` of the file's own tables; 0: none.
uint64_t find_data_symbol(const ObjectFile& elf, std::string_view name);

}  // namespace dj
