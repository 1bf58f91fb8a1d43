// SPDX-License-Identifier: Apache-2.0
// MappedModule: one ELF file as it is mapped into a target: its name, where its code lies, and how
// far that can be trusted. Tells nothing of the process.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/target_file.h"

namespace dj {

struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

// MappedModule: one ELF file mapped into the process. The same file mapped twice makes two modules.
struct MappedModule {
  std::string path;  // as the target sees it; PlanModule::path
  // The name by which open_target_file() gives this very file, which was found by its inode.
  std::string open_path;
  std::optional<FileVersion> version;  // of that file when the mappings were read
  uint64_t bias = 0;                   // runtime address = ELF address + bias
  uint64_t begin = 0, end = 0;         // whole image
  std::vector<AddressRange> text;      // where its code is mapped, runtime addresses
  bool is_executable_file = false;     // the program itself (/proc/PID/exe)
  bool is_vdso = false;
  // Some of the file's code mapped once more, elsewhere and without the rest (V8 does so): only
  // `text` is there, and begin and end are its.
  bool partial = false;
  // Code of it is mapped MAP_SHARED: what is written there would get into the file, and the kernel
  // refuses it. Nothing of the module is probed.
  bool shared = false;
  // Of `text`, what the program may write: it may have changed the code, or do so under a jump. No
  // probe goes there.
  std::vector<AddressRange> writable;
  // The loader has opened it a moment ago and is going to write to its code (DT_TEXTREL): nothing
  // of the module is probed, either. Set by Session::find_later_objects() alone.
  bool awaits_relocation = false;
};

// Is the code at this runtime address there?
bool has_code(const MappedModule& module, uint64_t address);
// May the program write to the code at this runtime address?
bool is_writable(const MappedModule& module, uint64_t address);
// The user knows that it does not (--writable-text).
void trust_writable(std::vector<MappedModule>& modules);
// Has its file another content by now, or another file its name?
bool is_replaced(const MappedModule& module);
// Is this module still among `now`, with its file and where it was? now: ascending.
bool is_mapped(const MappedModule& module, const std::vector<MappedModule>& now);

}  // namespace dj
