// SPDX-License-Identifier: Apache-2.0
// Opens one file with libdwfl.
#include "compiler/debuginfo/dwfl_file.h"

#include "compiler/debuginfo/libdw_open.h"
#include "compiler/debuginfo/packed_size.h"

namespace dj {

DwflFile::DwflFile(const ObjectFile& elf) {
  // The empty path means the standard places: next to the file, .debug/ and /usr/lib/debug.
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };
  guard_libdw();
  if (!unpacks_sanely(elf)) return;
  dwfl_ = dwfl_begin(&callbacks);
  if (!dwfl_) {
    return;
  }
  dwfl_report_begin(dwfl_);
  // Base 0 added to p_vaddr: addresses stay those of the file.
  const int fd = elf.file().duplicate();  // which libdwfl closes
  const char* path = elf.open_path().c_str();
  if (fd >= 0) module_ = dwfl_report_elf(dwfl_, path, path, fd, 0, true);
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

DwflFile::~DwflFile() {
  if (dwfl_) {
    dwfl_end(dwfl_);
  }
}

}  // namespace dj
