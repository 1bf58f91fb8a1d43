// SPDX-License-Identifier: Apache-2.0
// DwflFile: one file opened by libdwfl, with its addresses as the file states them (bias 0).
// libdwfl finds separate debug files, dwz alternates and packed symbols. Only for this room.
#pragma once
#include <elfutils/libdwfl.h>

#include "compiler/debuginfo/object_file.h"

namespace dj {

class DwflFile {
 public:
  explicit DwflFile(const ObjectFile& elf);
  ~DwflFile();
  DwflFile(const DwflFile&) = delete;
  DwflFile& operator=(const DwflFile&) = delete;
  Dwfl_Module* module() const { return module_; }  // null: not readable

 private:
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace dj
