// SPDX-License-Identifier: Apache-2.0
// DwflFile: one file opened by libdwfl, with its addresses as the file states them (bias 0).
// libdwfl finds packed symbols, separate debug files and dwz alternates that are here; servers have
// the others. Only for this room.
#pragma once
#include <elfutils/libdwfl.h>

#include "compiler/debuginfo/object_file.h"

namespace dj {

class DwflFile {
 public:
  DwflFile(const ObjectFile& elf, Ask whom);
  ~DwflFile();
  DwflFile(const DwflFile&) = delete;
  DwflFile& operator=(const DwflFile&) = delete;
  Dwfl_Module* module() const { return module_; }  // null: not readable
  // Its debug information; null: none.
  Dwarf* dwarf(Dwarf_Addr* bias);

 private:
  static int find_debug_info(Dwfl_Module* module, void** owner, const char* name, Dwarf_Addr base,
                             const char* file, const char* link, GElf_Word crc, char** found);

  const ObjectFile& elf_;
  const Ask whom_;
  std::shared_ptr<ObjectFile> alternate_;  // of dwz
  int alternate_fd_ = -1;
  Dwarf* alternate_dwarf_ = nullptr;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace dj
