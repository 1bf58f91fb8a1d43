// SPDX-License-Identifier: Apache-2.0
// The PLT of a module: stubs through which it calls functions that may lie in other objects, and
// the words of its GOT that hold their addresses.
#pragma once
#include <map>
#include <string_view>
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

struct PltEntry {
  uint64_t begin = 0, end = 0;  // of the stub
  std::string_view name;        // of the function, without version; points into the file
};

struct Plt {
  std::vector<PltEntry> entries;               // by address; of .plt, .plt.sec and .plt.got
  std::map<uint64_t, std::string_view> slots;  // GOT words of functions, by address
  // The stub that begins there; null: none.
  const PltEntry* at(uint64_t address) const;
};

// The GOT word that the stub at `address`, of these bytes, jumps through; 0: they are no stub.
uint64_t slot_of_stub(Bytes code, uint64_t address);
// The loader fills the word with the address of a function that stubs jump to.
bool is_stub_relocation(const Elf64_Rela& relocation);

Plt read_plt(const ObjectFile& elf);

}  // namespace dj
