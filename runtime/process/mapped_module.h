// SPDX-License-Identifier: Apache-2.0
// MappedModule describes one ELF file that a target has mapped: its name, where its code lies, and
// how far djtap can trust that. It says nothing of the process.
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

// MappedModule is one ELF file mapped into the process. A file that is mapped twice makes two
// modules.
struct MappedModule {
  std::string path;  // as the target sees it; PlanModule::path
  // The name by which open_target_file() opens this very file; djtap found it by its inode.
  std::string open_path;
  std::optional<FileVersion> version;  // of that file when the mappings were read
  uint64_t bias = 0;                   // runtime address = ELF address + bias
  uint64_t begin = 0, end = 0;         // whole image
  std::vector<AddressRange> text;      // where its code is mapped, runtime addresses
  bool is_executable_file = false;     // the program itself (/proc/PID/exe)
  bool is_vdso = false;
  // The module is a second mapping of some of the file's code, elsewhere and without the rest (V8
  // makes such): only `text` is there, and begin and end are those of `text`.
  bool partial = false;
  // Some of its code is mapped MAP_SHARED: a write there would get into the file, and the kernel
  // refuses it. djtap puts no probe into the module.
  bool shared = false;
  // The parts of `text` that the program may write: it may have changed the code, or may change it
  // under a jump. djtap puts no probe there.
  std::vector<AddressRange> writable;
  // The loader has just opened the file and is going to write to its code (DT_TEXTREL): djtap puts
  // no probe into the module. Only Session::find_later_objects() sets this.
  bool awaits_relocation = false;
};

// Paths of the modules for resolve(): the executable first, no vdso.
std::vector<std::string> module_paths(const std::vector<MappedModule>& modules);
// Whether the module has code at this runtime address.
bool has_code(const MappedModule& module, uint64_t address);
// Whether the program may write to the code at this runtime address.
bool is_writable(const MappedModule& module, uint64_t address);
// Clears MappedModule::writable of all modules: the user says that the program does not write there
// (--writable-text).
void trust_writable(std::vector<MappedModule>& modules);
// Whether the module's file has other contents by now, or its name belongs to another file.
bool is_replaced(const MappedModule& module);
// Whether this module is still among `now`, with the same file at the same address. now: ascending.
bool is_mapped(const MappedModule& module, const std::vector<MappedModule>& now);

}  // namespace dj
